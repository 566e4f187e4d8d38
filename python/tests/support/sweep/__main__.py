"""Run the sweep by hand: `python -m sweep`, `python -m sweep sum var`, `python -m sweep --cases 400
sum`, or one case by its line."""

import argparse
import sys

from sweep.run import CASES, OPS, check, parse, sweep


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sweep")
    parser.add_argument("--cases", type=int, default=CASES, help="of each operator (%(default)s)")
    parser.add_argument("ops", nargs="*", help="operators, or one case as it was printed")
    options = parser.parse_args()
    if options.ops and options.ops[0].startswith("{"):
        wrong, _ = check(parse(options.ops[0]))
        print(wrong or "as expected")
        return int(wrong is not None)
    failed = 0
    for op in options.ops or OPS:
        result = sweep(op, options.cases)
        print(result)
        failed += len(result.failures)
        for failure in result.failures[:5]:
            print(failure)
    return int(failed > 0)


sys.exit(main())
