"""Everything that leaktrace is measured by, beside the untraced run and heaptrack. Started by scripts/bench."""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

from . import billion, budget, client, comparing, image_report, images, lengths, machine, report, server, summary, threads
from .instructions import InstructionCounter
from .processes import FailedRun
from .parts import PARTS
from .recorders import Heaptrack, Leaktrace, Workload, recorders
from .rounds import measure_readers, measure_recorders, say

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FULL = {"churn": ["18", "10"], "json": ["5000", "10"]}
QUICK = {"churn": ["12", "20"], "json": ["200", "5"]}
COUNTED = {"churn": (["10", "4"], ["10", "12"]), "json": (["20", "2"], ["20", "6"])}


def parse():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count (default 7)")
    parser.add_argument("--quick", action="store_true", help="small workloads and two rounds, to see that everything works")
    parser.add_argument("--no-instructions", action="store_true", help="leave out what callgrind counts")
    parser.add_argument("--only", choices=PARTS, metavar="PART", action="append",
                        help="measure this alone, and keep the others' results; may be given several times: " + ", ".join(PARTS))
    parser.add_argument("--output", default=BENCHMARKS, metavar="DIRECTORY", help="where RESULTS.md and results.json go")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.quick:
        options.rounds = min(options.rounds, 2)
    return options


def build(name, directory):
    program = os.path.join(directory, name)
    source = os.path.join(BENCHMARKS, "workloads", name + ".swift")
    say(f"compiling {name}")
    subprocess.run(["swiftc", "-O", "-g", "-o", program, source], check=True)
    return program


def measure(name, program, arguments, tool, rounds, directory):
    workload = Workload(name, program, arguments)
    ways = recorders(tool)
    found = measure_recorders(ways, workload, rounds, directory)
    readers, events = {}, {}
    # The last one: what else there is on a machine prefers the first.
    pinned = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    for way in ways:
        if isinstance(way, Leaktrace):
            reader, command = f"leaktrace analyze ({way.name.split()[-1]})", [tool, "analyze", way.trace(directory)]
            count = found[way.name].facts["events"]
        elif isinstance(way, Heaptrack):
            reader, command = "heaptrack_print", ["heaptrack_print", way.trace(directory)]
            count = found["leaktrace --arc off"].facts["events"]
        else:
            continue
        for shown, each in ((reader, command), (reader + ", one core", pinned + command)):
            readers[shown], events[shown] = each, count
    return {
        "name": name, "arguments": arguments, "title": " ".join([name] + arguments), "recorders": found,
        "commands": [way.shown_command.replace("PROGRAM", " ".join([name] + arguments)) for way in ways],
        "readers": measure_readers(readers, rounds, directory), "reader events": events,
    }


def count_instructions(programs, tool, library, directory, count):
    counter = InstructionCounter(tool, library, directory)
    say("counting instructions, one path at a time")
    paths = counter.program(budget.compile_program(directory))
    settings = {"untraced": None, "off": "off", "counts": "counts", "stacks": "stacks"}
    found = {"paths": {name: counter.path_costs(paths, count, retains) for name, retains in settings.items()}, "workloads": {}}
    for name, (few, many) in COUNTED.items():
        stripped = counter.program(programs[name])
        for retains in ("off", "counts", "stacks"):
            say(f"counting instructions of {name}, --arc {retains}")
            found["workloads"][f"{name} {' '.join(many)}, --arc {retains}"] = counter.workload_cost(stripped, few, many, retains)
    return found


def shown_arguments(options):
    only = [f"--only {part}" for part in options.only or ()]
    return " ".join(only + (["--quick"] if options.quick else []) + [f"--rounds {options.rounds}"])


def measure_recording(options, tool, results, programs, directory):
    results["workloads"] = [measure(name, programs(name), arguments, tool, options.rounds, directory)
                            for name, arguments in (QUICK if options.quick else FULL).items()]
    if not options.no_instructions:
        library = os.path.join(options.products, "libleaktrace.so")
        counted = {name: programs(name) for name in COUNTED}
        results["instructions"] = count_instructions(counted, tool, library, directory, 5_000 if options.quick else 50_000)


def known(path, otherwise):
    """What is there from an earlier time."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return otherwise


def sections(text):
    """By heading of the first level, the text below it with it."""
    found = {}
    for line in text.splitlines(keepends=True):
        if line.startswith("# "):
            heading = line.strip()
            found[heading] = ""
        if found:
            found[heading] += line
    return found


def write(options, results):
    """Writes what was measured, and keeps what was not."""
    os.makedirs(options.output, exist_ok=True)
    paths = [os.path.join(options.output, name) for name in ("results.json", "RESULTS.md")]
    values = {part: value for part, value in json.loads(known(paths[0], "{}")).items() if part in PARTS}
    text = sections(known(paths[1], ""))
    headings = {"recording": report, "lengths": lengths, "threads": threads, "server": server, "billion": billion, "snapshots": image_report,
                "comparing": comparing, "client": client}
    for part, result in results["parts"].items():
        section = headings[part]
        about = {name: results[name] for name in ("date", "arguments", "machine")}
        if part in ("lengths", "threads", "server", "billion"):
            values[part] = {"part": about, **result}
            text[section.HEADING] = section.markdown(result, about)
        else:
            values[part] = {"part": about, **section.plain({**results, **result})}
            text[section.HEADING] = section.markdown({**results, **result})
        others = list(others_in(values[part]))
        if others:
            values[part]["part"]["others"] = max(others)
    with open(paths[0], "w") as file:
        json.dump(values, file, indent=1)
        file.write("\n")
    text[summary.HEADING] = summary.markdown(values)
    order = [summary.HEADING] + [headings[part].HEADING for part in PARTS]
    with open(paths[1], "w") as file:
        file.write("\n\n".join(text[heading].strip() for heading in order if heading in text) + "\n")
    say(f"written to {paths[1]}")


def others_in(values):
    """How many processors others kept busy, wherever it is noted."""
    if isinstance(values, dict):
        for name, value in values.items():
            if name == "others" and isinstance(value, list):
                yield from value
            else:
                yield from others_in(value)
    elif isinstance(values, list):
        for value in values:
            yield from others_in(value)


class Programs:
    """The workloads, compiled when they are first asked for."""

    def __init__(self, directory):
        self._directory = directory
        self._paths = {}

    def __call__(self, name):
        if name not in self._paths:
            self._paths[name] = build(name, self._directory)
        return self._paths[name]


def main():
    options = parse()
    tool = os.path.join(options.products, "leaktrace")
    results = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "arguments": shown_arguments(options), "rounds": options.rounds, "machine": machine.description(), "parts": {},
    }
    with tempfile.TemporaryDirectory(prefix="leaktrace-bench-") as directory:
        programs = Programs(directory)
        for part in options.only or PARTS:
            results["parts"][part] = measure_part(part, options, tool, results["rounds"], programs, directory)
            # What is done is kept if a later part fails.
            write(options, results)


def measure_part(part, options, tool, rounds, programs, directory):
    found = {}
    ways = recorders(tool, ("off", "stacks"))
    if part == "recording":
        measure_recording(options, tool, found, programs, directory)
        return found
    if part == "lengths":
        return lengths.measure(ways, {name: programs(name) for name in lengths.FULL}, options.quick, directory)
    if part == "threads":
        return threads.measure(ways, programs("threads"), rounds, options.quick, directory)
    if part == "server":
        return server.measure(ways, min(rounds, 5), options.quick, directory)
    if part == "billion":
        return billion.measure(Leaktrace(tool, "stacks"), programs("churn"), min(rounds, 3), options.quick, directory)
    if part == "snapshots":
        return {"images": images.measure(tool, programs("heap"), rounds, options.quick, directory)}
    if part == "comparing":
        return {"comparisons": comparing.measure(tool, {name: programs(name) for name in comparing.LONG}, min(rounds, 3), options.quick, directory)}
    return {"client": client.measure(tool, BENCHMARKS, rounds, options.quick, directory)}


try:
    main()
except (FailedRun, subprocess.CalledProcessError) as failure:
    print(f"bench: stopped, and nothing was written of this part: {failure}", file=sys.stderr)
    sys.exit(1)
