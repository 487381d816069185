"""The side-by-side benchmark (untraced, leaktrace with each of its settings, heaptrack), and heap images. Started by scripts/bench."""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

from . import budget, client, comparing, image_report, images, machine, report
from .instructions import InstructionCounter
from .processes import FailedRun
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
    parser.add_argument("--only", choices=("recording", "snapshots", "comparing", "client"),
                        help="measure this alone, and keep the others' results")
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
    for way in ways:
        if isinstance(way, Leaktrace):
            reader = f"leaktrace analyze ({way.name.split()[-1]})"
            readers[reader] = [tool, "analyze", way.trace(directory)]
            events[reader] = found[way.name].facts["events"]
        elif isinstance(way, Heaptrack):
            readers["heaptrack_print"] = ["heaptrack_print", way.trace(directory)]
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
    only = ["--only " + options.only] if options.only else []
    return " ".join(only + (["--quick"] if options.quick else []) + [f"--rounds {options.rounds}"])


def measure_recording(options, tool, results, directory):
    programs = {name: build(name, directory) for name in ("churn", "json")}
    results["workloads"] = [measure(name, programs[name], arguments, tool, options.rounds, directory)
                            for name, arguments in (QUICK if options.quick else FULL).items()]
    if not options.no_instructions:
        library = os.path.join(options.products, "libleaktrace.so")
        results["instructions"] = count_instructions(programs, tool, library, directory, 5_000 if options.quick else 50_000)


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
    values = json.loads(known(paths[0], "{}"))
    text = sections(known(paths[1], ""))
    if "workloads" in results:
        values = {**report.plain(results), **{name: values[name] for name in ("snapshots", "comparisons", "client") if name in values}}
        text[report.HEADING] = report.markdown(results)
    if "images" in results:
        values["snapshots"] = image_report.plain(results)
        text[image_report.HEADING] = image_report.markdown(results)
    if "comparisons" in results:
        values["comparisons"] = comparing.plain(results)
        text[comparing.HEADING] = comparing.markdown(results)
    if "client" in results:
        values["client"] = client.plain(results)
        text[client.HEADING] = client.markdown(results)
    order = [report.HEADING, image_report.HEADING, comparing.HEADING, client.HEADING]
    with open(paths[0], "w") as file:
        json.dump(values, file, indent=1)
        file.write("\n")
    with open(paths[1], "w") as file:
        file.write("\n\n".join(text[heading].strip() for heading in order if heading in text) + "\n")
    say(f"written to {paths[1]}")


def main():
    options = parse()
    tool = os.path.join(options.products, "leaktrace")
    results = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "arguments": shown_arguments(options), "rounds": options.rounds, "machine": machine.description(),
    }
    with tempfile.TemporaryDirectory(prefix="leaktrace-bench-") as directory:
        if options.only in (None, "recording"):
            measure_recording(options, tool, results, directory)
        if options.only in (None, "snapshots"):
            results["images"] = images.measure(tool, build("heap", directory), options.rounds, options.quick, directory)
        if options.only in (None, "comparing"):
            programs = {name: build(name, directory) for name in comparing.LONG}
            results["comparisons"] = comparing.measure(tool, programs, min(options.rounds, 3), options.quick, directory)
        if options.only in (None, "client"):
            results["client"] = client.measure(tool, BENCHMARKS, options.rounds, options.quick, directory)
    write(options, results)


try:
    main()
except (FailedRun, subprocess.CalledProcessError) as failure:
    print(f"bench: nothing was written: {failure}", file=sys.stderr)
    sys.exit(1)
