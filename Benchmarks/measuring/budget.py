"""Checks the instructions of the recorder's paths against a budget. Started by scripts/budget and by the tests.

Only instructions of libleaktrace.so count, without its calls into other libraries and without compression. Their number
depends on this project's code and the compiler, and hardly on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from . import machine
from .instructions import COUNTING, InstructionCounter, PathCost, costs_of_paths, profiles_in, recorded_events, settings
from .processes import FailedRun

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUDGET = os.path.join(BENCHMARKS, "budget.json")
PROGRAM = os.path.join(os.path.dirname(BENCHMARKS), "Tests", "Programs", "hook-paths.swift")
CALLS = 4000  # per path

# A path may exceed its budget by this share of it, or by this number of instructions if that is more.
TOLERANCE, MINIMUM_TOLERANCE = 0.1, 0.5

# Paths with a budget, by setting; None for all. `off` and `counts` have few paths, because allocations and frees take
# the same paths with every value of --arc.
BUDGETED_PATHS: dict[str, tuple[str, ...] | None] = {
    "off": ("object", "retain", "release"),
    "counts": ("retain", "release"),
    "stacks": None,
    # Calls without a sample.
    "light": ("malloc", "realloc", "free", "calloc"),
}


def measure(counter: InstructionCounter, program: str, calls: int = CALLS) -> dict[str, float]:
    """Returns the recorder's own instructions per call, by "path, setting"."""
    return budgeted_costs({retains: counter.path_costs(program, calls, retains) for retains in BUDGETED_PATHS})


def budgeted_costs(costs: Mapping[str, Mapping[str, PathCost]]) -> dict[str, float]:
    """Returns the recorder's own instructions per call, by "path, setting". `costs`: by setting, then by path."""
    found = {}
    for retains, paths in BUDGETED_PATHS.items():
        for name, cost in costs[retains].items():
            if paths is None or name in paths:
                setting = "--light" if retains == "light" else f"--arc {retains}"
                found[f"{name}, {setting}"] = round(cost.recorder, 1)
    return found


def measure_arm64(leaktrace: str, library: str, directory: str, calls: int = CALLS) -> dict[str, float]:
    """Returns the values of `measure` for the recorder of arm64, which runs in an emulated machine."""
    runs = os.path.join(directory, "runs.json")
    with open(runs, "w") as file:
        json.dump([{"name": each, "variables": settings(each)} for each in BUDGETED_PATHS], file)
    command = [sys.executable, "-B", "-m", "trials.emulated_callgrind", "--library", library, "--program", PROGRAM]
    command += [f"--argument={calls}", *(f"--option={each}" for each in COUNTING)]
    command += ["--runs", runs, "--directory", directory]
    path = os.path.join(os.path.dirname(BENCHMARKS), "Tests", "Trials")
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})
    costs = {}
    for retains in BUDGETED_PATHS:
        results = os.path.join(directory, retains)
        with open(os.path.join(results, "output")) as file:
            output = file.read()
        events = recorded_events(leaktrace, os.path.join(results, "trace"), directory)
        if events is None:
            raise FailedRun(f"hook-paths on arm64, {retains}: the trace was not closed at exit, or lacks events")
        costs[retains] = costs_of_paths(output, profiles_in(results), calls, retains, events)
    return budgeted_costs(costs)


def judge(budget: Mapping[str, float], measured: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Returns failures, and hints about budgets that can be lowered."""
    failures, hints = [], []
    for path in sorted(set(budget) | set(measured)):
        if path not in measured:
            failures.append(f"{path}: has a budget, but was not measured")
        elif path not in budget:
            failures.append(f"{path}: {measured[path]} instructions per call, but no budget")
        else:
            allowed, now = budget[path], measured[path]
            change = f"{now} instructions per call, the budget is {allowed}"
            if allowed:
                change += f" ({now / allowed - 1:+.0%})"
            if now - allowed > max(allowed * TOLERANCE, MINIMUM_TOLERANCE):
                failures.append(f"{path}: {change}")
            elif allowed - now > max(allowed * TOLERANCE, MINIMUM_TOLERANCE):
                hints.append(f"{path}: {change}: lower the budget")
    return failures, hints


def compile_program(directory: str) -> str:
    program = os.path.join(directory, "hook-paths")
    subprocess.run(["swiftc", "-O", "-g", "-o", program, PROGRAM], check=True)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/budget", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--update",
        action="store_true",
        help="make the measured values the budget; give the reason for an increase in the commit",
    )
    parser.add_argument("--arm64", action="store_true", help="count the arm64 recorder, in an emulated machine")
    parser.add_argument("--arm64-library", help=argparse.SUPPRESS)
    parser.add_argument("--budget", default=BUDGET, metavar="FILE", help="the budget (default Benchmarks/budget.json)")
    parser.add_argument("--program", help=argparse.SUPPRESS)  # the compiled hook-paths
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    compiler = machine.first_line(["swiftc", "--version"])
    with tempfile.TemporaryDirectory(prefix="leaktrace-budget-") as directory:
        tool, library = (os.path.join(options.products, name) for name in ("leaktrace", "libleaktrace.so"))
        if options.arm64:
            measured = measure_arm64(tool, options.arm64_library, directory)
        else:
            counter = InstructionCounter(tool, library, directory)
            measured = measure(counter, counter.program(options.program or compile_program(directory)))
    with open(options.budget) as file:
        known = json.load(file)
    paths = "paths on arm64" if options.arm64 else "paths"
    if options.update:
        with open(options.budget, "w") as file:
            json.dump({**known, "compiler": compiler, paths: measured}, file, indent=1)
            file.write("\n")
        print(f"written to {options.budget}")
        return 0
    for path, count in measured.items():
        print(f"{path}: {count}")
    failures, hints = judge(known[paths], measured)
    for hint in hints:
        print(f"hint: {hint}")
    for failure in failures:
        print(f"over budget: {failure}")
    if failures and known["compiler"] != compiler:
        print(f"The budget was measured with another compiler: {known['compiler']}; this is {compiler}.")
    if failures:
        print("If the increase is necessary, run scripts/budget --update, and give the reason in the commit.")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FailedRun, subprocess.CalledProcessError, OSError) as failure:
        print(f"budget: {failure}", file=sys.stderr)
        sys.exit(2)
