"""Nothing in the list of operators goes without a case, and no case without an operator."""

import inspect

import pytest
from op_cases import FAMILIES, case_names

import loup

LISTED = loup.ops()


def test_every_operator_has_a_case() -> None:
    missing = [f"{op['family']} {op['name']}" for op in LISTED if op["name"] not in case_names()]
    assert missing == []


def test_every_case_belongs_to_an_operator() -> None:
    assert sorted(case_names() - {op["name"] for op in LISTED}) == []


def test_elementwise_cases_are_in_the_table_of_their_family() -> None:
    for op in LISTED:
        if op["family"] in ("unary", "binary"):
            assert op["name"] in FAMILIES[op["family"]]


@pytest.mark.parametrize("op", LISTED, ids=lambda op: op["name"])
def test_what_the_list_says_is_there(op: dict[str, object]) -> None:
    module = loup.masked if op["masked"] else loup
    if str(op["name"]).endswith("_"):
        module = loup.Tensor
    for name in [op["name"], *op["aliases"]]:
        assert callable(getattr(module, name))
        assert getattr(module, name).__doc__
    assert str(op["signature"]).startswith("(")
    assert str(op["summary"]).endswith(".")
    if op["in_place"]:
        assert callable(getattr(loup.Tensor, f"{op['name']}_"))


def test_names_are_listed_once() -> None:
    # logaddexp is both: of the tensor itself, and one that knows masks.
    names = [(op["masked"], name) for op in LISTED for name in (op["name"], *op["aliases"])]
    assert len(names) == len(set(names))
    assert inspect.ismodule(loup.masked)
