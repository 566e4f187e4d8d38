"""The benchmark knows every operator, and its rows run. No other library is needed."""

import sys
from pathlib import Path
from typing import Any

import pytest

import loup

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from harness.case import Entry, pick  # noqa: E402
from harness.tasks import entries, of_op  # noqa: E402

EVERY = list(entries(loup.ops()))
TENSOR = [entry for entry in EVERY if entry.contest.columns == "tensor"]


@pytest.mark.parametrize("op", loup.ops(), ids=lambda op: op["name"])
def test_every_operator_has_a_row(op: dict[str, Any]) -> None:
    assert of_op(op), f"{op['name']}: expected a row in bench/harness, got none"


@pytest.mark.parametrize("entry", TENSOR, ids=lambda entry: entry.name)
def test_every_row_runs_and_is_right(entry: Entry) -> None:
    case, contest = entry.make(shrink=1000), entry.contest
    expected = contest.expected(case)
    result = contest.ours(case)()
    if expected:
        assert contest.error(case, "loup", result, expected) <= contest.bounds(case)[0]


def names(*picked: str) -> list[str]:
    return [entry.name for entry in pick(EVERY, list(picked))]


def test_rows_are_picked_by_group_op_task_and_name() -> None:
    assert names() == [entry.name for entry in EVERY]
    assert names("exp") == ["exp.large", "exp.cache", "exp.small"]
    assert names("exp", "cache") == ["exp.cache"]
    assert names("exp.cache", "add.small") == ["exp.cache", "add.small"]
    assert {"exp.large", "add.large"} <= set(names("elementwise", "large"))
    assert set(names("copies", "exp")) == {*names("copies"), *names("exp")}


def test_a_name_that_is_an_op_and_a_task_is_read_both_ways() -> None:
    assert set(names("all")) == {"sum.all", "all.large"}
    assert names("sum", "row", "all") == ["sum.row", "sum.all"]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected names of groups .*masked.*, got nothing; "):
        names("sum", "nothing")
