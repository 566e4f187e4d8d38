"""The tables that a person reads: one for each group of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .floors import IN_MEMORY, TORCH_MASKED
from .results import Result

Cells = list[tuple[str, str]]  # heads and what stands below them


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


def _masked(result: Result) -> Cells:
    reached = result.reached()
    best = result.best_peer
    return [
        ("best peer", _peer(result)),
        ("x", _number(best[1] if best else None)),
        ("torch.masked", _time(result.best(TORCH_MASKED))),
        ("x", _number(reached["masked"])),
        ("tuned x", _number(reached["tuned"])),
    ]


def _tensor(result: Result) -> Cells:
    return [
        cell
        for name in ("numpy", "torch", "jax")
        for cell in ((name, _time(result.best(name))), ("x", _number(result.ratio(name))))
    ]


def _shm(result: Result) -> Cells:
    return [
        cell
        for name in ("torch", IN_MEMORY)
        for cell in ((name, _time(result.best(name))), ("x", _number(result.ratio(name))))
    ]


COLUMNS: dict[str, Callable[[Result], Cells]] = {"masked": _masked, "tensor": _tensor, "shm": _shm}


def row(result: Result) -> Cells:
    """Return the cells of one task."""
    return [
        (result.group, result.name),
        ("loup", _time(result.ours)),
        *COLUMNS[result.columns](result),
        ("% limit", _number(result.reached()["limit"])),
        ("floors", _floors(result)),
    ]


def head(machine: dict[str, Any]) -> str:
    """Return the lines above the tables."""
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


def _table(results: list[Result]) -> str:
    rows = [row(result) for result in results]
    heads = [name for name, _ in rows[0]]
    columns = [[name, *(cells[i][1] for cells in rows)] for i, name in enumerate(heads)]
    columns = [each for each in columns if set(each[1:]) != {"-"} or each[0] in ("loup", "floors")]
    for column in columns:
        width = max(map(len, column))
        is_text = column[0] in (results[0].group, "best peer", "floors")
        pad = str.ljust if is_text else str.rjust
        column[:] = [pad(cell, width) for cell in column]
        column.insert(1, "-" * width)
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def render(results: list[Result]) -> str:
    """Return a table for each group, columns aligned; columns without content are left out."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.group, []).append(result)
    return "\n\n".join(_table(group) for group in groups.values())
