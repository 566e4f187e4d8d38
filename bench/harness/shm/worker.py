"""A process that attaches to a segment and detaches, as often as a line on its input says.

Called with "loup" or "torch" and what names the segment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

Pairs = Callable[[int], None]


def ours(name: str) -> Pairs:
    """Return a loop over loup's attach."""
    from loup import shm

    def pairs(count: int) -> None:
        attach = shm.attach
        for _ in range(count):
            attach(name).close()

    return pairs


def torch(manager: str, name: str, size: str) -> Pairs:
    """Return a loop over what torch does to receive a storage of its file_system strategy."""
    from torch import UntypedStorage

    arguments = manager.encode(), name.encode(), int(size)

    def pairs(count: int) -> None:
        attach = UntypedStorage._new_shared_filename_cpu
        for _ in range(count):
            attach(*arguments)

    return pairs


def main() -> None:
    """Serve until the input ends."""
    library, *names = sys.argv[1:]
    pairs = ours(*names) if library == "loup" else torch(*names)
    for line in sys.stdin:
        pairs(int(line))
        print("done", flush=True)


if __name__ == "__main__":
    main()
