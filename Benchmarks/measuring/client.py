"""What calls of the LeakTrace library cost, untraced and traced: nanoseconds a call, measured in the process that makes them."""

import os
import statistics
import subprocess

from .figures import table
from .processes import run
from .rounds import say

HEADING = "# The LeakTrace library"
SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "Sources")


def build(benchmarks, directory):
    """The program, with the library compiled from its sources as a package manager would."""
    say("compiling client")
    include = os.path.join(SOURCES, "CLeakTrace", "include")
    with open(os.path.join(directory, "module.modulemap"), "w") as file:
        file.write(f'module CLeakTrace {{ header "{include}/CLeakTrace.h" export * }}\n')
    clang = os.path.join(os.path.dirname(os.path.realpath(subprocess.check_output(["which", "swiftc"], text=True).strip())), "clang")
    found = os.path.join(directory, "CLeakTrace.o")
    subprocess.run([clang, "-O2", "-fPIC", "-I", include, "-c", os.path.join(SOURCES, "CLeakTrace", "CLeakTrace.c"), "-o", found], check=True)
    library = os.path.join(SOURCES, "LeakTrace")
    files = [os.path.join(library, name) for name in sorted(os.listdir(library))]
    subprocess.run(["swiftc", "-O", "-swift-version", "6", "-parse-as-library", "-emit-module", "-emit-library", "-static", "-module-name", "LeakTrace",
                    "-I", directory, "-o", os.path.join(directory, "libLeakTrace.a")] + files, check=True)
    program = os.path.join(directory, "client")
    subprocess.run(["swiftc", "-O", "-g", "-I", directory, "-L", directory, os.path.join(benchmarks, "workloads", "client.swift"), "-lLeakTrace", found,
                    "-o", program], check=True)
    return program


def _costs(command, directory):
    lines = run(command, directory).output.splitlines()
    return {name: float(cost) for name, cost in (line.split() for line in lines)}


def measure(tool, benchmarks, rounds, quick, directory):
    """By way, the costs of each round by call."""
    program = build(benchmarks, directory)
    command = [program, "20000" if quick else "1000000"]
    trace = os.path.join(directory, "client.trace")
    ways = {"untraced": command, "traced": [tool, "record", "--quiet", "-o", trace, "--"] + command}
    found = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            say(f"client, {name}, round {number}")
            costs = _costs(way, directory)
            if number > 0:  # the first warms up
                found[name].append(costs)
    return found


def markdown(results):
    found = results["client"]
    rows = [[call] + [f"{statistics.median(each[call] for each in found[name]):.1f}" for name in found] for call in found["untraced"][0]]
    return "\n".join([
        HEADING, "",
        f"`scripts/bench {results['arguments']}`, {results['date']}. Medians, in nanoseconds a call, of a loop in one thread. *Object* is the allocation and the "
        "free of a small object, *object-expected* the same with an expectation that is met.", "",
        table(["call", "untraced ns", "traced ns"], rows),
    ])


def plain(results):
    return {"ways": results["client"]}
