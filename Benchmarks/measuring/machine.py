"""What the measurements were made on, and how busy it was with other things."""

import os
import platform
import shutil
import subprocess


def first_line(command):
    """The first line a command prints, or an empty string if it cannot be run."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError:
        return ""
    return next((line.strip() for line in result.stdout.splitlines() if line.strip()), "")


def _field(path, name, separator):
    try:
        with open(path) as file:
            for line in file:
                key, found, value = line.partition(separator)
                if found and key.strip() == name:
                    return value.strip().strip('"')
    except OSError:
        pass
    return ""


def _version():
    """The commit, and whether anything but the results was changed since: those are written part by part."""
    if not shutil.which("git"):
        return ""
    commit = first_line(["git", "describe", "--always", "--abbrev=12"])
    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)Benchmarks/RESULTS.md", ":(top,exclude)Benchmarks/results.json"])
    return f"{commit}-dirty" if changed else commit


def description():
    """Name and value of everything that figures depend on."""
    memory = _field("/proc/meminfo", "MemTotal", ":").split()
    return {
        "processor": _field("/proc/cpuinfo", "model name", ":") or platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "virtual machine": "yes" if "hypervisor" in _field("/proc/cpuinfo", "flags", ":").split() else "not known to be",
        "memory": f"{int(memory[0]) / (1 << 20):.1f} GiB" if memory else "",
        "kernel": platform.release(),
        "system": _field("/etc/os-release", "PRETTY_NAME", "="),
        "Swift": first_line(["swiftc", "--version"]),
        "heaptrack": first_line(["heaptrack", "--version"]),
        "valgrind": first_line(["valgrind", "--version"]),
        "leaktrace": _version(),
    }


class ProcessorUse:
    """Processor seconds of the whole machine, idle ones left out, since it was made."""

    def __init__(self):
        self._begin = self._busy()

    @staticmethod
    def _busy():
        with open("/proc/stat") as file:
            numbers = [int(word) for word in file.readline().split()[1:9]]
        user, nice, system, _idle, _waiting, interrupts, soft_interrupts, steal = numbers
        return (user + nice + system + interrupts + soft_interrupts + steal) / os.sysconf("SC_CLK_TCK")

    def others(self, own, wall):
        """Processors that others kept busy on average during `wall` seconds, of which `own` processor seconds were ours."""
        return max(0.0, self._busy() - self._begin - own) / wall if wall > 0 else 0.0
