"""Measure loup beside its peers and print one table.

Examples: run.py; run.py sum; run.py sum row all; run.py sum.pool --quick;
run.py elementwise; run.py exp cache; run.py sum --no-peers; run.py --check
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import tuned
from harness.settings import Settings, pin

ROOT = Path(__file__).resolve().parent.parent
BELOW, WRONG = 1, 2


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="group, op, task, or op.task")
    parser.add_argument("--check", action="store_true", help="exit 1 below a floor")
    parser.add_argument(
        "--allow-missing", action="store_true", help="let --check pass floors without measurement"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of every library")
    parser.add_argument("--quick", action="store_true", help="few repeats, for a first look")
    parser.add_argument("--list", action="store_true", help="list the tasks and stop")
    parser.add_argument("--no-peers", action="store_true", help="only loup and the limit")
    parser.add_argument("--limit", metavar="FILE", help="the built library of readers")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench" / "latest.json")
    for hidden in (tuned.OPTION, tuned.LONGER):
        parser.add_argument(hidden, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    """Run the benchmark."""
    options = parse()
    pin(options.threads)
    try:
        importlib.import_module("loup")
    except ImportError as error:
        print(f"bench: expected an importable loup, got {error}; build it first", file=sys.stderr)
        return WRONG
    session = importlib.import_module("harness.session")  # imports NumPy, so after pin
    settings = Settings(
        threads=options.threads,
        quick=options.quick,
        longer=options.longer,
        tuned=options.tuned_process,
        peers=not options.no_peers,
        limit_library=options.limit,
    )
    try:
        report = session.Session(settings, ROOT).run(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return WRONG
    if report is None:
        return 0
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report.to_json(), indent=1), encoding="utf-8")
    if options.tuned_process:
        return 0
    print(report.text())
    if report.notes.wrong:
        return WRONG
    if options.check:
        failures = report.failures(options.allow_missing)
        print("\n".join(("", *failures)) if failures else "\nall floors are met")
        return BELOW if failures else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
