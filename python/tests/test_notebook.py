"""MaskedTensor._repr_html_: the table that notebooks show."""

import html
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tensors import DTYPES

import loup

SECRET = 777.0


class Table(HTMLParser):
    """The rows of a table: texts of its cells, and which of them are masked."""

    ALLOWED = frozenset({"div", "table", "caption", "tbody", "tr", "td", "th"})
    ATTRIBUTES = frozenset({"class", "style", "colspan"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.masked: list[str] = []
        self.headings: list[str] = []
        self.caption = ""
        self.open: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ALLOWED
        self.attributes = dict(attrs)
        assert set(self.attributes) <= self.ATTRIBUTES
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        tag = self.open[-1]
        if tag == "caption":
            self.caption += data
        elif tag == "th":
            self.rows.pop()
            self.headings.append(data)
        elif tag == "td":
            self.rows[-1].append(data)
            if self.attributes.get("class") == "loup-masked":
                assert "background" in (self.attributes["style"] or "")
                self.masked.append(data)


def table(x: loup.MaskedTensor) -> Table:
    return Table(x._repr_html_())


def cells_of_text(x: loup.MaskedTensor) -> list[str]:
    """The cells that the text form shows, in their order."""
    body = repr(x).removeprefix("MaskedTensor(").removesuffix(")")
    body = body.replace(", requires_grad=True", "")
    return [cell for cell in re.split(r"[\s,\[\]]+", body) if cell not in {"", "..."}]


def cells_of_table(x: loup.MaskedTensor) -> list[str]:
    return [cell for row in table(x).rows for cell in row if cell not in {"…", "⋮"}]


VALUES = {
    "one decimal": [0.0, 1.0, -2.5],
    "two decimals": [0.25, 1.0, 3.0],
    "four decimals": [1 / 3, 2.0, 100.0],
    "large": [1e8, 1.0, -3.0],
    "just not large": [99999999.0, 1.0, 0.0],
    "small": [5e-5, 1.0, 0.0],
    "just not small": [1e-4, 1.0, 0.0],
    "not finite": [math.nan, math.inf, -math.inf],
    "some finite": [math.nan, 0.125, -math.inf],
    "negative zero": [-0.0, 0.0, 1.0],
    "tenths": [0.1, 0.2, 0.3],
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_numbers_are_written_as_in_the_text_form(values: list[float], dtype: str) -> None:
    data = loup.asarray(np.array([*values, SECRET])).to(dtype)
    x = loup.masked_tensor(data, [True, True, True, False])
    assert cells_of_table(x) == cells_of_text(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(), (1,), (5,), (2, 3), (1, 1), (3, 1), (2, 3, 4), (2, 1, 2, 3), (1001,), (40, 30)]
)
def test_cells_are_those_of_the_text_form(shape: tuple[int, ...], dtype: str) -> None:
    numbers = np.arange(math.prod(shape)).reshape(shape)
    x = loup.masked_tensor(loup.asarray(numbers % 100).to(dtype), numbers % 3 != 1)
    assert cells_of_table(x) == cells_of_text(x)


def test_masked_cells_are_marked() -> None:
    x = loup.masked_tensor([[0.0, 1.0], [3.0, SECRET]], [[True, False], [True, False]])
    found = table(x)
    assert found.rows == [["0.0", "--"], ["3.0", "--"]]
    assert found.masked == ["--", "--"]


@pytest.mark.parametrize("shape", [(), (4,), (4, 5), (2, 3, 4), (30, 40), (9, 20, 30)])
@pytest.mark.parametrize("secret", [SECRET, math.nan, math.inf, 1e-30])
def test_what_is_under_the_mask_is_not_shown(shape: tuple[int, ...], secret: float) -> None:
    mask = loup.zeros(shape, "bool")
    x = loup.masked_tensor(loup.full(shape, secret), mask)
    other = loup.masked_tensor(loup.zeros(shape), mask)
    assert x._repr_html_() == other._repr_html_()
    assert set(cells_of_table(x)) == {"--"}


def test_the_caption_names_shape_and_dtype() -> None:
    x = loup.masked_tensor([[1.0, 2.0]], [[True, False]])
    assert table(x).caption == "MaskedTensor, shape (1, 2), float32"


def test_the_caption_tells_that_it_requires_grad() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False], requires_grad=True)
    assert table(x).caption == "MaskedTensor, shape (2,), float32, requires_grad=True"
    assert table(x * 2).caption.endswith("requires_grad=True")
    assert table(x * 2).rows == [["2.0", "--"]]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 3)])
def test_nothing_has_a_caption_only(shape: tuple[int, ...]) -> None:
    found = table(loup.masked_tensor(loup.zeros(shape), loup.ones(shape, "bool")))
    assert found.rows == []
    assert f"shape {shape}" in found.caption


def test_slices_have_headings() -> None:
    x = loup.masked_tensor(loup.zeros((2, 1, 2, 2)), loup.ones((2, 1, 2, 2), "bool"))
    assert table(x).headings == ["[0, 0, :, :]", "[1, 0, :, :]"]


def test_slices_are_limited() -> None:
    x = loup.masked_tensor(loup.zeros((100, 2, 2)), loup.ones((100, 2, 2), "bool"))
    found = table(x)
    assert found.headings == [*(f"[{i}, :, :]" for i in range(12)), "…"]
    assert len(found.rows) == 24


def test_long_dims_keep_three_at_each_end() -> None:
    x = loup.masked_tensor(loup.arange(1200).reshape(30, 40), loup.ones((30, 40), "bool"))
    rows = table(x).rows
    assert rows[0] == ["0", "1", "2", "…", "37", "38", "39"]
    assert rows[3] == ["⋮"]
    assert [row[0] for row in rows] == ["0", "40", "80", "⋮", "1080", "1120", "1160"]


def test_long_leading_dims_keep_three_at_each_end() -> None:
    x = loup.masked_tensor(loup.zeros((10, 11, 12)), loup.ones((10, 11, 12), "bool"))
    assert table(x).headings == [f"[{i}, :, :]" if i != "…" else i for i in [0, 1, 2, "…", 7, 8, 9]]


def test_a_thousand_elements_are_all_shown() -> None:
    x = loup.masked_tensor(loup.arange(1000), loup.ones(1000, "bool"))
    assert len(table(x).rows[0]) == 1000


def test_many_dims_stay_small() -> None:
    x = loup.as_masked_tensor(loup.ones((1,) * 8), loup.ones((1,) * 8, "bool")).expand((9,) * 8)
    assert len(x._repr_html_()) < 200_000


def test_it_is_escaped_and_brings_nothing_along() -> None:
    text = loup.masked_tensor([1.0, math.nan], [True, True])._repr_html_()
    assert html.unescape(text) == text  # nothing had to be escaped
    assert not re.search(r"script|http|url\(|@import|<img|<link| on\w+=", text)


def test_the_tensor_is_left_alone() -> None:
    x = loup.masked_tensor([1.0, 2.0], [True, False], requires_grad=True)
    x._repr_html_()
    assert (x.get_data().tolist(), x.get_mask().tolist()) == ([1, 2], [True, False])
    assert x.is_leaf
