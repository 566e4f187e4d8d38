"""The benchmark knows every operator, its rows run, and floors are judged as they are written.

No other library is needed.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from harness import table
from harness.case import Entry, pick
from harness.floors import Floor
from harness.results import Result
from harness.runner import Notes, Runner
from harness.session import Session
from harness.settings import Settings
from harness.tasks import entries, of_op
from harness.tensor.contest import OF_OPS
from harness.timing import Call, Timing

import loup

EVERY = list(entries(loup.ops()))
TENSOR = [entry for entry in EVERY if entry.contest.columns == "tensor"]
ALONE = Settings(quick=True, peers=False)


@pytest.mark.parametrize("op", loup.ops(), ids=lambda op: op["name"])
def test_every_operator_has_a_row(op: dict[str, Any]) -> None:
    assert of_op(op), f"{op['name']}: expected a row in bench/harness, got none"


def test_every_row_belongs_to_an_operator() -> None:
    listed = {op["name"] for op in loup.ops()}
    written = {name for rows in OF_OPS.values() for name in rows}
    assert written <= listed


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
    both = set(names("all"))
    assert {"sum.all", "all.large"} <= both
    assert all(name.endswith(".all") or name.startswith("all.") for name in both)
    assert names("sum", "row", "all") == ["sum.row", "sum.all"]


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected names of groups .*masked.*, got nothing; "):
        names("sum", "nothing")
    with pytest.raises(ValueError, match=r"expected names that fit together, got exp scores, "):
        pick(EVERY, ["exp", "scores"])


def entry_of(name: str) -> Entry:
    (found,) = pick(EVERY, [name])
    return found


def measured(seconds: float, **peers: float) -> Result:
    """The row of exp.large as if loup and its peers had taken so long."""
    entry = entry_of("exp.large")
    result = Result.of(entry, entry.make(shrink=1000))
    times = {"loup": seconds, **peers}
    result.timings = {name: Timing([time], [False]) for name, time in times.items()}
    return result


def test_elementwise_floors_ask_for_numpys_and_nearly_torchs_speed() -> None:
    assert not measured(1, numpy=1, torch=0.8).is_below
    assert measured(1, numpy=0.99, torch=0.8).is_below
    assert measured(1, numpy=1, torch=0.76).is_below


def test_nothing_is_asked_of_what_numpy_does_not_have() -> None:
    entry = entry_of("digamma.large")
    assert entry.contest.floor(entry.make(shrink=1000)) == Floor()


def test_a_floor_without_measurement_is_neither_met_nor_below() -> None:
    result = measured(1, numpy=1)
    assert not result.is_below
    (unmet,) = [verdict for verdict in result.verdicts() if not verdict.met]
    assert str(unmet) == "expected at least 0.769 x torch, got no measurement"


@pytest.mark.parametrize(("longer", "is_below"), [(1.0, False), (2.0, True)])
def test_a_row_below_its_floor_is_measured_again_and_that_counts(
    longer: float, is_below: bool, threads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def measure(self: Session, chosen: list[Entry], settings: Settings, limit: Any) -> list[Result]:
        looks.append([entry.name for entry in chosen])
        slow = {"exp.large": longer if settings.longer else 3.0}
        return [
            dataclasses.replace(
                measured(slow.get(entry.name, 1.0), numpy=1, torch=1), task=entry.task
            )
            for entry in chosen
        ]

    monkeypatch.setattr(Session, "_measure", measure)
    options = argparse.Namespace(names=["exp.large", "exp.cache"], list=False)
    report = Session(Settings(), Path()).run(options)
    assert report is not None
    assert looks == [["exp.large", "exp.cache"], ["exp.large"]]
    assert [result.is_below for result in report.results] == [is_below, False]
    assert bool(report.failures(allow_missing=False)) == is_below


def failing(case: object) -> Call:
    def function() -> None:
        raise loup.DTypeError("exp: expected more, got less")

    return Call(function)


def test_an_operator_that_raises_is_reported_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    entry, notes = entry_of("exp.small"), Notes()
    monkeypatch.setattr(type(entry.contest), "ours", lambda self, case: failing(case))
    result = Runner(ALONE, None, notes).run(entry)
    assert result.ours is None
    assert "1 not measured" in table.render([result])
    reason = "loup: failed with DTypeError: exp: expected more, got less: exp.small"
    assert notes.lines() == [reason]
    assert not notes.wrong


def test_wrong_values_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry, notes = entry_of("exp.small"), Notes()
    x = loup.asarray(entry.make().args[0])
    monkeypatch.setattr(type(entry.contest), "ours", lambda self, case: Call(loup.exp2, (x,)))
    assert Runner(ALONE, None, notes).run(entry).ours is None
    assert notes.wrong == {"exp.small"}


def test_a_row_is_measured_without_peers() -> None:
    result = Runner(ALONE, None, Notes()).run(entry_of("exp.small"))
    assert result.ours is not None
    heads = table.render([result]).splitlines()[0].split()
    assert heads == ["elementwise", "loup", "floors"]
