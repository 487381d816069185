"""Counts the instructions of a Swift program for arm64. Debian's callgrind runs it in an emulated machine.

The file RUNS is a list of objects: `name`, and `variables` of the environment. DIRECTORY/NAME then has the profiles,
`output` and, if the run was recorded, `trace`. A file `output` exists if the run ended with status 0.
"""

import argparse
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys

from . import emulation
from .processes import FailedCommand, must

TOOL = "usr/libexec/valgrind"
# callgrind itself, since its launcher would be recorded instead. It looks for the suppressions of valgrind.
TOOL_FILES = ("callgrind-arm64-linux", "vgpreload_core-arm64-linux.so", "default.supp")
RUN_SECONDS = 600


def count(
    root: str, library: str, source: str, arguments: list[str], options: list[str], runs: str, directory: str
) -> None:
    # Not in /tmp, since the machine mounts another file system there.
    work = os.path.join(emulation.WORK, "instructions")
    os.makedirs(work, exist_ok=True)
    name = os.path.splitext(os.path.basename(source))[0]
    product = os.path.join(work, name, name)
    emulation.compile_swift(root, [source], product, ["-O"])
    # valgrind fails if debug information is too new.
    copy = os.path.join(work, os.path.basename(library))
    for original, target in ((library, copy), (product, product)):
        must([os.path.join(emulation.TOOLCHAIN, "llvm-objcopy"), "--strip-debug", original, target])
    kernel = emulation.fetch_kernel(root)
    tool = emulation.fetch_package("valgrind", emulation.known_packages(root))
    machine = emulation.Machine(root, os.path.join(work, "machine"))
    for name in TOOL_FILES:
        machine.add(os.path.join(tool, TOOL, name), f"{TOOL}/{name}")
    for path in (product, copy):
        machine.add(path)
    with open(runs, encoding="utf-8") as file:
        wanted = json.load(file)
    commands = []
    for each in wanted:
        name, variables = each["name"], dict(each["variables"])
        # All profiles of a run have this stem.
        profile = os.path.join(emulation.ANSWERS, f"{name}.callgrind")
        if variables:
            variables |= {"LD_PRELOAD": copy, "LEAKTRACE_OUTPUT": os.path.join(emulation.ANSWERS, f"{name}.trace")}
        variables |= {"VALGRIND_LIB": f"/{TOOL}", "VALGRIND_LAUNCHER": "/usr/bin/env"}
        words = ["env", *(f"{key}={value}" for key, value in variables.items())]
        words += [f"/{TOOL}/{TOOL_FILES[0]}", "--tool=callgrind", f"--callgrind-out-file={profile}", *options]
        commands.append(f"run {name} {RUN_SECONDS} {shlex.join([*words, product, *arguments])}")
    answers = os.path.join(work, "answers")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    machine.run(kernel, commands, answers)
    for each in wanted:
        collect(answers, each["name"], directory)


def collect(answers: str, name: str, directory: str) -> None:
    """Moves the files of one run to DIRECTORY/NAME."""
    stem, target = os.path.join(answers, name), os.path.join(directory, name)
    with open(f"{stem}.status", encoding="utf-8") as file:
        status = file.read().strip()
    if status != "0":
        with open(f"{stem}.err", encoding="utf-8", errors="replace") as file:
            raise FailedCommand(f"{name}: status {status}: {file.read()[-500:]}")
    os.makedirs(target)
    for path in glob.glob(f"{stem}.callgrind.*"):
        shutil.move(path, os.path.join(target, "callgrind.out." + path.rsplit(".", 1)[1]))
    for ending, new in (("trace", "trace"), ("out", "output")):
        if os.path.exists(f"{stem}.{ending}"):
            shutil.move(f"{stem}.{ending}", os.path.join(target, new))


def main() -> int:
    parser = argparse.ArgumentParser(prog="trials.emulated_callgrind", description=__doc__)
    parser.add_argument("--library", required=True, help="the recorder for arm64")
    parser.add_argument("--program", required=True, help="the source of the program")
    parser.add_argument("--argument", action="append", default=[], help="an argument of the program")
    parser.add_argument("--option", action="append", default=[], help="an option of callgrind")
    parser.add_argument("--runs", required=True, help="the file with the runs")
    parser.add_argument("--directory", required=True, help="receives the results")
    options = parser.parse_args()
    try:
        arguments = (options.program, options.argument, options.option, options.runs, options.directory)
        count(emulation.root_directory(), options.library, *arguments)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        print(f"arm64: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
