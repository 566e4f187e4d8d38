"""Results of several parts, with names."""

from typing import Any, NamedTuple

__all__ = ["Histogram", "MinMax", "ValuesIndices"]


class ValuesIndices(NamedTuple):
    """What `sort`, `topk`, and `max` and `min` along a dim give."""

    values: Any
    indices: Any


class MinMax(NamedTuple):
    """What `minmax` gives."""

    min: Any
    max: Any


class Histogram(NamedTuple):
    """What `histogram` gives."""

    hist: Any
    bin_edges: Any
