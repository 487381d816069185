"""Debian's Python for the emulated machine of arm64, so that trials can run inside it."""

import os
import shlex

from . import emulation

VERSION = "3.13"
PACKAGES = (
    f"python{VERSION}-minimal",
    f"libpython{VERSION}-minimal",
    f"libpython{VERSION}-stdlib",
    "libssl3t64",
    "libexpat1",
)
PROGRAM = f"/usr/bin/python{VERSION}"
MODULES = f"usr/lib/python{VERSION}"
TRIALS = os.path.join(emulation.ROOT, "Tests", "Trials")


def fetch(root: str) -> list[str]:
    """Fetches Python's packages. Returns the directories of their files, which a machine needs as further roots."""
    known = emulation.known_packages(root)
    return [emulation.fetch_package(name, known) for name in PACKAGES]


def add(machine: emulation.Machine, packages: list[str]) -> None:
    """Adds Python to a machine that has the packages as roots."""
    for package in packages:
        if os.path.isdir(os.path.join(package, MODULES)):
            add_tree(machine, os.path.join(package, MODULES), MODULES)
    machine.add_from_root(PROGRAM.lstrip("/"))


def add_tree(machine: emulation.Machine, directory: str, target: str) -> None:
    """Adds all files of a directory, with the libraries that they need."""
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            # Skip links to files outside of the package.
            if os.path.exists(path) and not name.endswith(".pyc"):
                machine.add(path, os.path.join(target, os.path.relpath(path, directory)))


def add_trials(machine: emulation.Machine) -> None:
    """Adds the trials, at the same path as on this machine."""
    add_tree(machine, TRIALS, TRIALS)


def trial_line(stem: str, seconds: int, module: str, arguments: list[str]) -> str:
    """Returns a line of the machine's script that runs a module of the trials."""
    words = ["env", f"PYTHONPATH={TRIALS}", "PYTHONDONTWRITEBYTECODE=1", PROGRAM, "-m", module, *arguments]
    return f"run {stem} {seconds} {shlex.join(words)}"
