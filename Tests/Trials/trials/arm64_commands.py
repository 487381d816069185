"""Runs leaktrace's commands for arm64 inside the emulated machine. Ends with 1 if a check fails."""

import argparse
import json
import os
import shutil
import subprocess
import sys

from . import arm64, emulated_python, emulation
from .processes import FailedCommand

WORK = os.path.join(emulation.WORK, "commands")
PROGRAMS = os.path.join(emulation.ROOT, "Tests", "Programs")
# Folders of compiled programs: the source, and the options.
BUILT = {
    "platform-O": (os.path.join(PROGRAMS, "platform.swift"), ["-parse-as-library", "-O"]),
    "platform-Onone": (os.path.join(PROGRAMS, "platform.swift"), ["-parse-as-library", "-Onone"]),
    "watched-O": (os.path.join(PROGRAMS, "watched.swift"), ["-O"]),
    "cases-O": (arm64.SOURCE, ["-parse-as-library", "-O"]),
}
# `doctor` records this program.
SMALL_PROGRAM = "usr/bin/true"
RUN_SECONDS = 3600
STEM = "commands"


def check(root: str, products: str, names: list[str], pages: int, kernel: str | None) -> list[str]:
    """Complaints about the checks that ran in the machine. Prints a line for each check."""
    built = os.path.join(WORK, "programs")
    for name, (source, options) in BUILT.items():
        emulation.compile_swift(root, [source], os.path.join(built, name, name.split("-")[0]), options)
    kernel = kernel or emulation.fetch_kernel(root, pages)
    packages = emulated_python.fetch(root)
    machine = emulation.Machine(root, os.path.join(WORK, "machine"), *packages)
    emulated_python.add(machine, packages)
    emulated_python.add_trials(machine)
    for name in BUILT:
        machine.add(os.path.join(built, name, name.split("-")[0]))
    for source, _ in BUILT.values():
        machine.add(source)
    machine.add_command(products)
    machine.add_from_root(SMALL_PROGRAM)
    arguments = ["--command", os.path.join(products, "leaktrace"), "--programs", built]
    arguments += ["--sources", PROGRAMS, "--directory", emulation.ANSWERS, *names]
    answers = os.path.join(WORK, "answers")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    emulation.say(f"booting {os.path.basename(kernel)}")
    line = emulated_python.trial_line(STEM, RUN_SECONDS, "trials.guest_commands", arguments)
    machine.run(os.path.abspath(kernel), [line], answers, limit=RUN_SECONDS + emulation.BOOTING_SECONDS)
    return judge(answers)


def judge(answers: str) -> list[str]:
    """The complaints that the machine wrote."""
    path = os.path.join(answers, "results.json")
    said = ""
    for ending in ("out", "err"):
        with open(os.path.join(answers, f"{STEM}.{ending}"), encoding="utf-8", errors="replace") as file:
            said += file.read()
    if not os.path.exists(path):
        return [f"the checks did not run: {said[-1000:]}"]
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    for name, result in results.items():
        print(f"{name:20} {result['seconds']:7.1f} s  {'FAILED' if result['complaints'] else 'yes'}")
    complaints = [f"{name}: {text}" for name, result in results.items() for text in result["complaints"]]
    with open(os.path.join(answers, f"{STEM}.status"), encoding="utf-8") as file:
        status = file.read().strip()
    if status != ("1" if complaints else "0"):
        complaints.append(f"the checks ended with status {status}: {said[-1000:]}")
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --commands", description=__doc__)
    parser.add_argument(
        "--pages", type=int, choices=(4, 16, 64), default=4, help="KiB of the kernel's pages (default: %(default)s)"
    )
    parser.add_argument("--kernel", metavar="FILE", help="boots this kernel")
    parser.add_argument("--arm64-products", metavar="DIR", help="the directory of the leaktrace command for arm64")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these checks alone")
    options = parser.parse_args()
    try:
        products = arm64.find_products(options.arm64_products, arm64.ARM64_PRODUCTS)
        root = emulation.root_directory()
        complaints = check(root, products, options.names, options.pages, options.kernel)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        complaints = [str(failure)]
    return emulation.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
