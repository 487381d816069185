"""Runs the situations of scripts/survival on arm64, in an emulated machine. Ends with 1 if there is an unknown
difference."""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import arm64, arm64_roots, emulated_python, emulation
from .processes import FailedCommand, must
from .roots import NoRoot
from .situations import FAMILIES, PROGRAMS, TESTED

WORK = os.path.join(emulation.WORK, "survival")
BUILT = os.path.join(WORK, "programs")
TABLE = os.path.join("docs", "engineering", "tables", "survival.md")
RUN_SECONDS = 4 * 3600
STEM = "survival"
# Two runs at a time: the machine has two processors.
JOBS = 2
LIMIT = 600  # seconds of one run


def build(root: str, is_short: bool) -> dict[str, str]:
    """Compiles the programs of the situations. Returns the executables by source."""
    sources = list(dict.fromkeys([*FAMILIES, *(source for source, _, _ in TESTED)]))
    if is_short:
        sources = [source for source in FAMILIES if source.endswith(".c")]

    def built(source: str) -> str:
        full, name = os.path.join(PROGRAMS, source), os.path.splitext(source)[0]
        product = os.path.join(BUILT, name, name)
        if source.endswith(".swift"):
            with open(full, encoding="utf-8") as file:
                library = ["-parse-as-library"] if "@main" in file.read() else []
            emulation.compile_swift(root, [full], product, ["-O", *library])
            return product
        os.makedirs(os.path.dirname(product), exist_ok=True)
        compiler = emulation.compiler(root)
        flags = ["-lpthread", "-ldl"]
        if source.endswith(".cpp"):
            compiler, flags = [compiler[0].replace("clang", "clang++"), *compiler[1:]], ["-std=c++17"]
        must([*compiler, "-fuse-ld=lld", "-O1", "-g", "-fno-builtin", full, *flags, "-o", product])
        return product

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(sources, pool.map(built, sources), strict=True))


def check(root: str, products: str, roots: str, arguments: list[str]) -> int:
    """Runs the situations in a machine with a clean root. Returns the status of `trials.survival` there."""
    clean, packages = arm64_roots.clean_root(root, roots), emulated_python.fetch(root)
    built = build(root, "--short" in arguments)
    machine = emulation.Machine(
        root, os.path.join(WORK, "machine"), *packages, tree=clean, megabytes=arm64_roots.MEGABYTES
    )
    emulated_python.add(machine, packages)
    emulated_python.add_trials(machine)
    cache = "/programs"
    for source, product in built.items():
        # The machine would compile programs that look older than their sources.
        machine.add(os.path.join(PROGRAMS, source), is_old=True)
        machine.add(product, os.path.join(cache, os.path.splitext(source)[0]))
    machine.add(os.path.join(PROGRAMS, "situations.h"), is_old=True)
    machine.add_command(products)
    options = ["--products", products, "--cache", cache, "--jobs", str(JOBS), "--limit", str(LIMIT), *arguments]
    table = os.path.join(emulation.ROOT, TABLE)
    lines = [
        "export PATH=/usr/sbin:/usr/bin",
        f"mkdir -p {shlex.quote(os.path.dirname(table))}",
        emulated_python.trial_line(STEM, RUN_SECONDS, "trials.survival", options),
        f"[ ! -e {shlex.quote(table)} ] || cp {shlex.quote(table)} {emulation.ANSWERS}/",
    ]
    answers = os.path.join(WORK, "answers")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    emulation.say("booting a machine with the situations")
    machine.run(emulation.fetch_kernel(root), lines, answers, limit=RUN_SECONDS + emulation.BOOTING_SECONDS)
    texts = {}
    for ending in ("out", "err", "status"):
        with open(os.path.join(answers, f"{STEM}.{ending}"), encoding="utf-8", errors="replace") as file:
            texts[ending] = file.read()
    print(texts["out"] + re.sub(r"^mount:.*\n", "", texts["err"], flags=re.MULTILINE))
    kept = os.path.join(answers, os.path.basename(TABLE))
    if os.path.exists(kept):
        emulation.say(f"the table is in {kept}")
    return int(texts["status"])


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --survival", description=__doc__)
    parser.add_argument("--arm64-products", metavar="DIR", help="the directory of the leaktrace command for arm64")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    usual = os.path.join(emulation.ROOT, ".build", "roots")
    parser.add_argument("--roots", default=usual, metavar="DIR", help="where the clean root is")
    options, arguments = parser.parse_known_args()
    try:
        products = arm64.find_products(options.arm64_products, arm64.ARM64_PRODUCTS)
        return check(emulation.root_directory(), products, os.path.abspath(options.roots), arguments)
    except (NoRoot, emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        emulation.say(str(failure))
        return 1


if __name__ == "__main__":
    sys.exit(main())
