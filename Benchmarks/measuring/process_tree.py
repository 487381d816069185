"""Properties of processes, read from /proc. They are empty or None after a process has exited."""

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
    """Returns the process and all its descendants. Each comes after its own descendants."""
    return [each for child in children(process) for each in descendants(child)] + [process]


def state(process: int) -> str:
    """Returns the kernel's letter for the state, such as R for running and Z for exited but not reaped."""
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
    """Returns the bytes of memory and page tables of a process. It has its share of each shared page.

    None also if the caller may not read these values.
    """
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
