"""Ends the processes that a run leaves behind, whatever sessions and groups they are in."""

import ctypes
import os
import signal
import time

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Makes this process the parent of orphans below it, so that it finds them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _parents() -> dict[int, int]:
    parents = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # The name in parentheses may hold anything.
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
    return parents


def descendants(of: int) -> list[int]:
    parents = _parents()
    found, layer = [], {of}
    while layer:
        layer = {child for child, parent in parents.items() if parent in layer}
        found += sorted(layer)
    return found


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def end_descendants(patience: float = 10) -> bool:
    """Kills all processes below this one. False if some are left after `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        _reap()
        left = descendants(os.getpid())
        if not left or time.monotonic() > deadline:
            return not left
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)
