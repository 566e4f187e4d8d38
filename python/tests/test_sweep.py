"""The sweep over masked operators: counts per operator, and for each case that fails a line that
runs it alone. It is all in python/tests/support/sweep."""

import pytest
from sweep.run import CASES, OPS, sweep


@pytest.mark.parametrize("op", OPS)
def test_every_case(op: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = sweep(op)
    with capsys.disabled():
        print(f"\n  {result}", end="")
    first = "\n".join(result.failures[:5])
    assert not result.failures, f"{len(result.failures)} of {result.cases} cases:\n{first}"
    assert result.cases == CASES
