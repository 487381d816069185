"""Nanoseconds per call of the LeakTrace library, untraced and traced, measured within the calling process."""

import os
import statistics
import subprocess
from dataclasses import dataclass

from ..figures import table
from ..part import BENCHMARKS, REPOSITORY, About, Bench, Part
from ..processes import run
from ..rounds import say

SOURCES = os.path.join(REPOSITORY, "Sources")


@dataclass
class ClientResult:
    ways: dict[str, list[dict[str, float]]]  # by way: for each round, nanoseconds by call


class Client(Part[ClientResult]):
    name = "client"
    heading = "# The LeakTrace library"
    result = ClientResult

    def measure(self, bench: Bench) -> ClientResult:
        program = _build(bench.directory)
        command = [program, "20000" if bench.is_quick else "1000000"]
        record = [bench.tool, "record", "--quiet", "-o", bench.file("client.trace"), "--"]
        ways = {"untraced": command, "traced": record + command}
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
        for number in range(bench.rounds + 1):
            for name, way in ways.items():
                say(f"client, {name}, round {number}")
                costs = _costs(way, bench.directory)
                if number > 0:  # the first round is a warm-up
                    found[name].append(costs)
        return ClientResult(found)

    def markdown(self, result: ClientResult, about: About) -> str:
        rows = [
            [call, *(f"{statistics.median(each[call] for each in rounds):.1f}" for rounds in result.ways.values())]
            for call in result.ways["untraced"][0]
        ]
        return "\n\n".join(
            [
                self.heading,
                f"Measured {about.date}, `scripts/bench {about.arguments}`. Values are medians, in nanoseconds per "
                "call. One thread makes the calls in a loop. *nothing* is the empty loop. *object* allocates and frees "
                "a small object. *object-expected* also expects its deallocation. *object-while-pending* is *object* "
                "while the expectation for another object is pending.",
                table(["call", "untraced ns", "traced ns"], rows),
            ]
        )


def _build(directory: str) -> str:
    """Compiles the library as a package manager would, and the program. Returns the program's path."""
    say("compiling client")
    include = os.path.join(SOURCES, "CLeakTrace", "include")
    with open(os.path.join(directory, "module.modulemap"), "w") as file:
        file.write(f'module CLeakTrace {{ header "{include}/CLeakTrace.h" export * }}\n')
    compiler = subprocess.check_output(["which", "swiftc"], text=True).strip()
    clang = os.path.join(os.path.dirname(os.path.realpath(compiler)), "clang")
    found = os.path.join(directory, "CLeakTrace.o")
    source = os.path.join(SOURCES, "CLeakTrace", "CLeakTrace.c")
    subprocess.run([clang, "-O2", "-fPIC", "-I", include, "-c", source, "-o", found], check=True)
    folder = os.path.join(SOURCES, "LeakTrace")
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    library = ["-emit-module", "-emit-library", "-static", "-module-name", "LeakTrace"]
    product = ["-I", directory, "-o", os.path.join(directory, "libLeakTrace.a")]
    subprocess.run(["swiftc", "-O", "-swift-version", "6", "-parse-as-library", *library, *product, *files], check=True)
    program = os.path.join(directory, "client")
    workload = os.path.join(BENCHMARKS, "workloads", "client.swift")
    paths = ["-I", directory, "-L", directory]
    subprocess.run(["swiftc", "-O", "-g", *paths, workload, "-lLeakTrace", found, "-o", program], check=True)
    return program


def _costs(command: list[str], directory: str) -> dict[str, float]:
    lines = run(command, directory).output.splitlines()
    return {name: float(cost) for name, cost in (line.split() for line in lines)}
