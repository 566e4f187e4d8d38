"""The table that a person reads."""

from __future__ import annotations

from typing import Any

from .results import Result

HEAD = ("task", "loup", "best peer", "x", "torch.masked", "x", "tuned x", "% limit", "floors")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 1e-6 * 100:
        return f"{seconds * 1e6:.2f} µs"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 3 else f"{value:.2f}"


def _peer(result: Result) -> str:
    best = result.best_peer
    if best is None or result.ours is None:
        return "-"
    name, ratio = best
    seconds = result.best(name)
    # A peer of the tuned process: its ratio was measured there, so its time is scaled to here.
    return f"{_time(seconds if seconds is not None else ratio * result.ours)} {name}"


def _floors(result: Result) -> str:
    verdicts = result.verdicts()
    if not verdicts:
        return "-"
    missed = [verdict for verdict in verdicts if not verdict.met]
    if not missed:
        return "met"
    unmeasured = sum(verdict.value is None for verdict in missed)
    below = [verdict.kind for verdict in missed if verdict.value is not None]
    parts = [f"below: {', '.join(below)}"] if below else []
    if unmeasured:
        parts.append(f"{unmeasured} not measured")
    return "; ".join(parts)


def row(result: Result) -> tuple[str, ...]:
    """Return the cells of one task."""
    reached = result.reached()
    best = result.best_peer
    return (
        result.name,
        _time(result.ours),
        _peer(result),
        _number(best[1] if best else None),
        _time(result.best("torch.masked")),
        _number(reached["masked"]),
        _number(reached["tuned"]),
        _number(reached["limit"]),
        _floors(result),
    )


def head(machine: dict[str, Any]) -> str:
    """Return the lines above the table."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    loup = machine["loup"]
    load = " ".join(f"{value:.2f}" for value in machine["load"])
    return "\n".join(
        (
            f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads used, "
            f"load average {load}",
            f"loup {loup.get('version', '?')}, instruction set {loup.get('target', '?')}",
            f"peers: {versions}",
            "times are minima; x is the peer's time over loup's",
        )
    )


def render(results: list[Result]) -> str:
    """Return the whole table, columns aligned."""
    lines = [HEAD, *(row(result) for result in results)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    left = {0, 2, len(HEAD) - 1}

    def cells(line: tuple[str, ...]) -> str:
        padded = (
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join((cells(lines[0]), rule, *(cells(line) for line in lines[1:])))
