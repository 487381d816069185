"""The machine of the measurements, and its load by other processes."""

import os
import platform
import shutil
import subprocess
from collections.abc import Sequence


def first_line(command: Sequence[str]) -> str:
    """Returns the first nonblank line of a command's output. Empty if there is none, or if the command cannot run."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError:
        return ""
    return next((line.strip() for line in result.stdout.splitlines() if line.strip()), "")


def _field(path: str, name: str, separator: str) -> str:
    try:
        with open(path) as file:
            for line in file:
                key, found, value = line.partition(separator)
                if found and key.strip() == name:
                    return value.strip().strip('"')
    except OSError:
        pass
    return ""


def _version() -> str:
    """Returns the commit, with `-dirty` if there are uncommitted changes.

    Changes of the results do not count, because they are written after each part.
    """
    if not shutil.which("git"):
        return ""
    commit = first_line(["git", "describe", "--always", "--abbrev=12"])
    results = [f":(top,exclude)Benchmarks/{name}" for name in ("RESULTS.md", "results.json")]
    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no", "--", ":/", *results])
    return f"{commit}-dirty" if changed else commit


def description() -> dict[str, str | int | None]:
    """Returns names and values of the properties that can affect figures."""
    memory = _field("/proc/meminfo", "MemTotal", ":").split()
    return {
        "processor": _field("/proc/cpuinfo", "model name", ":") or platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "virtual machine": "yes"
        if "hypervisor" in _field("/proc/cpuinfo", "flags", ":").split()
        else "not known to be",
        "memory": f"{int(memory[0]) / (1 << 20):.1f} GiB" if memory else "",
        "kernel": platform.release(),
        "system": _field("/etc/os-release", "PRETTY_NAME", "="),
        "Swift": first_line(["swiftc", "--version"]),
        "heaptrack": first_line(["heaptrack", "--version"]),
        "valgrind": first_line(["valgrind", "--version"]),
        "leaktrace": _version(),
    }


class ProcessorUse:
    """Busy processor seconds of the whole machine since this object was created."""

    def __init__(self) -> None:
        self._begin = self._busy()

    @staticmethod
    def _busy() -> float:
        with open("/proc/stat") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        user, nice, system, _idle, _waiting, interrupts, soft_interrupts, steal = numbers
        return (user + nice + system + interrupts + soft_interrupts + steal) / os.sysconf("SC_CLK_TCK")

    def others(self, own: float, wall: float) -> float:
        """Returns how many processors other processes kept busy on average.

        `own`: processor seconds of the benchmark's own processes. `wall`: seconds since this object was created.
        """
        return max(0.0, self._busy() - self._begin - own) / wall if wall > 0 else 0.0
