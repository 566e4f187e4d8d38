"""What loup.torch takes beyond loup's own call, on 64 float32 elements with masks and no gradient.

PYTHONPATH=build/release/python python bench/torch_overhead.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import loup.torch
import torch
from harness.small_calls import microseconds
from loup.torch.exchange import to_loup
from loup.torch.functions import table

import loup

LIMIT = 8.0  # microseconds


def arguments_of(name: str) -> tuple[object, ...]:
    return (2.0, 0) if name in ("norm", "normalize") else (0,)


def calls_of(name: str) -> list[Callable[[], object]]:
    """One call of loup.torch, of loup and of torch.masked, on the same memory."""
    x, y = torch.randn(64), torch.randn(64)
    masks = [torch.rand(64) > 0.3, torch.rand(64) > 0.3]
    calls: list[Callable[[], object]] = []
    for module in (loup.torch, loup.masked, torch.masked):
        function = getattr(module, name)
        a, b, *m = [to_loup(t) if module is loup.masked else t for t in (x, y, *masks)]
        if name == "logaddexp":
            calls.append(
                lambda f=function, a=a, b=b, m=m: f(a, b, input_mask=m[0], other_mask=m[1])
            )
        else:
            rest = arguments_of(name)
            calls.append(lambda f=function, a=a, m=m, rest=rest: f(a, *rest, mask=m[0]))
    return calls


def main() -> int:
    """Print a line per function; with --check, 1 when one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help=f"exit 1 above {LIMIT:g} microseconds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'µs':<12} loup.torch   loup  overhead  torch.masked")
    worst = 0.0
    for name in table:
        ours, own, theirs = microseconds(calls_of(name))
        worst = max(worst, ours - own)
        print(f"{name:<12} {ours:10.2f} {own:6.2f} {ours - own:9.2f} {theirs:13.2f}", flush=True)
    return int(options.check and worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
