"""What a method of MaskedTensor takes beyond the function with a mask, on 64 float32 elements.

PYTHONPATH=build/release/python python bench/method_overhead.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from harness.small_calls import microseconds

import loup

LIMIT = 0.3  # microseconds
ARGUMENTS: dict[str, tuple[object, ...]] = {"norm": (2.0, 0), "normalize": (2.0, 0)}
OTHERS = ("logaddexp", "quantile", "histogram", "cov", "corrcoef", "weighted_mean")


def calls_of(name: str) -> list[Callable[[], object]]:
    """The function and the method, on the same memory."""
    x = loup.randn(64)
    mask = loup.rand(64) > 0.3
    arguments = ARGUMENTS.get(name, (0,))
    function = getattr(loup.masked, name)
    both = loup.as_masked_tensor(x, mask)
    return [
        lambda: function(x, *arguments, mask=mask),
        lambda: getattr(both, name)(*arguments),
    ]


def main() -> int:
    """Print a line per operator; with --check, 1 when one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help=f"exit 1 above {LIMIT:g} microseconds")
    options = parser.parse_args()
    print(f"{'µs':<12} function  method  overhead")
    worst = 0.0
    for name in [op["name"] for op in loup.ops() if op["masked"] and op["name"] not in OTHERS]:
        function, method = microseconds(calls_of(name))
        worst = max(worst, method - function)
        print(f"{name:<12} {function:8.2f} {method:7.2f} {method - function:9.2f}", flush=True)
    return int(options.check and worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
