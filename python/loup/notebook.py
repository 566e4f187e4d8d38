"""Masked tensors as notebooks show them: an HTML table in which masked cells are seen to be masked.

Numbers are written as in the text form, by the same rule for decimals, over the cells that are shown.
"""

import itertools
import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from loup import _loup
from loup._loup import MaskedTensor
from loup.methods import method_of

SUMMARIZE_ABOVE = 1000
EDGE = 3
MOST_SLICES = 12
MOST_DECIMALS = 4

_GAP = "…"
_CELL = "text-align:right;padding:0.1em 0.6em;white-space:nowrap"
# A grey that is seen on white and on black.
_MASKED = _CELL + ";background:rgba(128,128,128,0.25);opacity:0.6"

Number = float | int | bool
Rows = list[list[Number | None]]  # None: masked


@method_of(MaskedTensor)
def _repr_html_(self: MaskedTensor) -> str:
    """An HTML table; masked cells hold -- and never what is under the mask."""
    x = self.detach()
    summarized = x.numel() > SUMMARIZE_ABOVE
    slices = [] if x.numel() == 0 else _slices(x, summarized)
    valid = [cell for _, rows in slices for row in rows for cell in row if cell is not None]
    write = _writer(x.dtype, valid)
    gaps = [summarized and size > 2 * EDGE for size in x.shape[-2:]]
    has_row_gap, has_column_gap = (False, False, *gaps)[-2:]
    columns = max((len(row) + has_column_gap for _, rows in slices for row in rows), default=1)
    body = []
    for heading, rows in slices:
        lines = [_row([_cell(cell, write) for cell in row], has_column_gap) for row in rows]
        if has_row_gap and rows:
            lines.insert(EDGE, _spanning("td", "⋮", columns))
        if heading:
            lines.insert(0, _spanning("th", heading, columns))
        body.append(f"<tbody>{''.join(lines)}</tbody>")
    table = f"<table>{_caption(self)}{''.join(body)}</table>"
    return f'<div class="loup-masked-tensor" style="overflow-x:auto">{table}</div>'


def _slices(x: MaskedTensor, summarized: bool) -> list[tuple[str, Rows]]:
    """The matrices that are shown, each with its place; one without rows stands for those left out."""
    if x.ndim < 2:
        return [("", [_list_of(x.reshape(-1), summarized)])]
    found: list[tuple[str, Rows]] = []
    leading = [_shown(size, summarized) for size in x.shape[:-2]]
    for place in itertools.product(*leading):
        if len(found) == MOST_SLICES:
            return [*found, (_GAP, [])]
        if None not in place:
            heading = f"[{', '.join(map(str, place))}, :, :]" if place else ""
            found.append((heading, _list_of(x[place], summarized)))
        elif found[-1][0] != _GAP:
            found.append((_GAP, []))
    return found


def _shown(size: int, summarized: bool) -> Iterable[int | None]:
    """Positions shown of one dim; None stands for what is left out."""
    if summarized and size > 2 * EDGE:
        return [*range(EDGE), None, *range(size - EDGE, size)]
    return range(size)


def _list_of(x: MaskedTensor, summarized: bool) -> Any:
    """The elements that are shown, as nested lists."""
    for dim, size in enumerate(x.shape):
        if summarized and size > 2 * EDGE:
            ends = [x.narrow(dim, 0, EDGE), x.narrow(dim, size - EDGE, EDGE)]
            x = _loup.cat(ends, dim)
    return x.tolist()


class _Writer:
    def __init__(self, code: str) -> None:
        self._code = code

    def __call__(self, value: Number) -> str:
        if isinstance(value, float) and math.isfinite(value):
            return format(value, self._code)
        return str(value)


def _writer(dtype: _loup.dtype, values: Sequence[Number]) -> _Writer:
    """How all numbers of a table are written."""
    finite = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    if any(abs(value) >= 1e8 or 0 < abs(value) < 1e-4 for value in finite):
        return _Writer(".4e")
    decimals = range(1, MOST_DECIMALS)
    chosen = next((d for d in decimals if _are_exact(dtype, finite, d)), MOST_DECIMALS)
    return _Writer(f".{chosen}f")


def _are_exact(dtype: _loup.dtype, values: list[float], decimals: int) -> bool:
    """Whether so many digits after the point give back the very same elements."""
    parsed = array("d", (float(f"{value:.{decimals}f}") for value in values))
    doubles = _loup.tensor_from_bytes(parsed.tobytes(), "float64", (len(parsed),))
    return bool(doubles.to(dtype).double().tolist() == values)


def _cell(value: Number | None, write: _Writer) -> str:
    if value is None:
        return f'<td class="loup-masked" style="{_MASKED}">--</td>'
    return f'<td style="{_CELL}">{_escaped(write(value))}</td>'


def _row(cells: list[str], has_gap: bool) -> str:
    if has_gap:
        cells.insert(EDGE, f'<td style="{_CELL}">{_GAP}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _spanning(tag: str, text: str, columns: int) -> str:
    style = f"text-align:{'left' if tag == 'th' else 'center'}"
    return f'<tr><{tag} colspan="{columns}" style="{style}">{_escaped(text)}</{tag}></tr>'


def _caption(x: MaskedTensor) -> str:
    text = f"MaskedTensor, shape {x.shape}, {x.dtype.name}"
    if x.requires_grad:
        text += ", requires_grad=True"
    return f'<caption style="text-align:left">{_escaped(text)}</caption>'


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
