"""The mutants in tests/mutants fit the sources, so that `make mutants` can apply each."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sweep.cases import OPS

ROOT = Path(__file__).resolve().parents[2]
LISTS = {path.stem: tomllib.loads(path.read_text()) for path in ROOT.glob("tests/mutants/*.toml")}
MUTANTS = [
    pytest.param({"tests": content["tests"], **mutant}, id=f"{area}/{mutant['name']}")
    for area, content in LISTS.items()
    for mutant in content["mutant"]
]


def test_there_are_enough_with_names_of_their_own() -> None:
    names = Counter(parameter.id for parameter in MUTANTS)
    assert len(names) >= 40
    assert max(names.values()) == 1


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_changes_a_text_that_is_there_once(mutant: dict[str, Any]) -> None:
    assert (ROOT / mutant["file"]).read_text().count(mutant["old"]) == 1
    assert mutant["old"] != mutant["new"]
    assert mutant["why"]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_names_operators_for_the_tests_that_ask_for_them(mutant: dict[str, Any]) -> None:
    ops = mutant.get("ops", [])
    if "sweep" in mutant["tests"]:
        assert ops
        assert set(ops) <= set(OPS)
    assert bool(ops) == any(test == "sweep" or "{op}" in test for test in mutant["tests"])
