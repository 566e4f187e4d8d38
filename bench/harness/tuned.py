"""Tuned torch, in a process of its own: allocator settings must be there when it starts.

That process measures loup and the limit too, so that its ratios come from one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .settings import Settings, tuned_variables

OPTION = "--tuned-process"
LONGER = "--longer"


def measure(script: Path, names: list[str], settings: Settings) -> dict[str, dict[str, Any]]:
    """Run the tasks with tuned torch; return the rows by task, or raise with its last words."""
    with tempfile.TemporaryDirectory(prefix="loup-bench-") as folder:
        path = Path(folder) / "tuned.json"
        command = [sys.executable, str(script), OPTION, "--json", str(path)]
        command += ["--threads", str(settings.threads), *(["--quick"] if settings.quick else [])]
        command += [LONGER] if settings.longer else []
        if settings.limit_library:
            command += ["--limit", settings.limit_library]
        done = subprocess.run(
            [*command, *names],
            env={**os.environ, **tuned_variables()},
            capture_output=True,
            text=True,
            check=False,
        )
        if not path.exists():
            words = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            raise RuntimeError(f"exit status {done.returncode}, {words[-1]}")
        rows = json.loads(path.read_text(encoding="utf-8"))["tasks"]
    return {f"{row['op']}.{row['task']}": row for row in rows}
