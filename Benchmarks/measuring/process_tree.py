"""What the kernel tells of processes. All of it is empty or None once a process has ended."""

import os


def children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def descendants(process: int) -> list[int]:
    """It and all below it, the innermost first."""
    return [each for child in children(process) for each in descendants(child)] + [process]


def state(process: int) -> str:
    """As the kernel writes it: R running, Z ended."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def executable(process: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/exe")
    except OSError:
        return ""


def memory(process: int) -> int | None:
    """Bytes that a process has of memory, its part of what it shares counted, and of page tables. None also where that
    may not be read."""
    fields: dict[str, str] = {}
    try:
        for name in ("smaps_rollup", "status"):
            with open(f"/proc/{process}/{name}") as file:
                for line in file:
                    key, colon, value = line.partition(":")
                    if colon:
                        fields[key] = value
        return (int(fields["Pss"].split()[0]) + int(fields["VmPTE"].split()[0])) * 1024
    except (OSError, KeyError, ValueError):
        return None
