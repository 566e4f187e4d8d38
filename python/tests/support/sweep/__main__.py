"""Run the sweep by hand: `python -m sweep`, `python -m sweep sum var`, or one case by its line."""

import sys

from sweep.run import OPS, check, parse, sweep


def main(arguments: list[str]) -> int:
    if arguments and arguments[0].startswith("{"):
        wrong, _ = check(parse(arguments[0]))
        print(wrong or "as expected")
        return int(wrong is not None)
    failed = 0
    for op in arguments or OPS:
        result = sweep(op)
        print(result)
        failed += len(result.failures)
        for failure in result.failures[:5]:
            print(failure)
    return int(failed > 0)


sys.exit(main(sys.argv[1:]))
