"""The results as Markdown and as JSON."""

from .figures import count, grouped, megabytes, table
from .rounds import plain_measurement

HEADING = "# Benchmark results"


def busy_note(workloads):
    """Whether other processes took part of the machine meanwhile: then times mean little."""
    others = [value for workload in workloads for each in workload["recorders"].values() for value in each.others.values]
    worst = max(others)
    if worst > 0.25:
        return (f"**Other processes kept up to {worst:.1f} processors busy during a run: the times below are disturbed. "
                "Instruction counts, sizes and memory are not.**")
    return f"Other processes kept at most {worst:.2f} processors busy during any run."


def markdown(results):
    parts = [
        HEADING,
        "Written by `scripts/bench`; `results.json` has the same figures with every round. "
        f"{results['date']}, `scripts/bench {results['arguments']}`".strip() + ".",
        table(["machine", ""], list(results["machine"].items()), numbers=False),
        busy_note(results["workloads"]),
        f"Every way of running takes its turn in each of {results['rounds']} rounds, after a warm-up round that does not count. Times are "
        "medians in seconds, with the smallest and largest; ratios are medians of the ratios round by round. A run that fails, prints "
        "something else, or loses an event ends the benchmark.",
        "heaptrack sees allocations and frees alone, and no retains or releases: of leaktrace's settings, `--arc off` sees as much.",
        "*Processor* is user and system time of the command and everything it starts: heaptrack interprets its data in a process of "
        "its own meanwhile, and waits for it. *Peak* is the program's own largest resident size; *added* is what tracing adds to it; "
        "*with helpers* counts every process of the command together.",
    ]
    for workload in results["workloads"]:
        parts += _workload(workload)
    if "instructions" in results:
        parts += _instructions(results["instructions"])
    return "\n\n".join(parts) + "\n"


def _workload(workload):
    found = workload["recorders"]
    plain = found["untraced"]
    rows, sizes = [], []
    for name, each in found.items():
        added = each.program_memory - plain.program_memory
        rows.append([
            name, each.wall.seconds(), f"{each.wall.ratio(plain.wall):.2f}", each.processor.seconds(),
            f"{each.processor.ratio(plain.processor):.2f}", megabytes(each.program_memory), megabytes(added) if each is not plain else "",
            megabytes(each.all_memory)])
        if "events" in each.facts:
            sizes.append([name, grouped(each.facts["events"]), megabytes(each.facts["bytes"]),
                          f"{each.facts['bytes'] / each.facts['events']:.3f}",
                          f"{(each.wall.median - plain.wall.median) / each.facts['events'] * 1e9:.0f}",
                          grouped(each.facts["cut stacks"])])
        elif "bytes" in each.facts:
            sizes.append([name, "", megabytes(each.facts["bytes"]), "", "", ""])
    readers = []
    for name, each in workload["readers"].items():
        events = workload["reader events"].get(name)
        readers.append([name, each.wall.seconds(), each.processor.seconds(),
                        f"{events / each.wall.median / 1e6:.1f}" if events else "", megabytes(max(each.peak.values))])
    return [
        f"## {workload['title']}",
        "Commands: " + ", ".join(f"`{command}`" for command in workload["commands"]) + ".",
        table(["", "wall", "ratio", "processor", "ratio", "peak MB", "added MB", "with helpers MB"], rows),
        table(["", "events", "file MB", "bytes an event", "added ns an event", "cut stacks"], sizes),
        "Reading what the last round left; *one core*: pinned to one. heaptrack's events are taken to be as many as those of `--arc off`:",
        table(["", "wall", "processor", "million events/s", "peak MB"], readers),
    ]


def _instructions(found):
    parts = [
        "## Where the time goes",
        "Instructions an event, counted by `valgrind --tool=callgrind`: what the traced run executes more than the untraced one, "
        "divided by events. Starting up is left out, compressing the trace is included. The counts hardly depend on the machine and "
        "not on its load. The first column is what the call itself takes untraced.",
        "One path at a time (`Tests/Programs/hook-paths.swift`): *added* is what a call takes more than untraced, all libraries and compression counted in; *own* "
        "is what `libleaktrace.so` itself executes without compression, which `scripts/budget` and the tests hold to `Benchmarks/budget.json`.",
        table(["", "the call untraced"] + [f"{word} --arc {retains}" for retains in ("off", "counts", "stacks") for word in ("added,", "own,")], [
            [path, count(plain["all"])] + [
                count(value) for retains in ("off", "counts", "stacks")
                for value in (found["paths"][retains][path]["all"] - plain["all"], found["paths"][retains][path]["recorder"])]
            for path, plain in found["paths"]["untraced"].items()]),
    ]
    rows = []
    for name, each in found["workloads"].items():
        rows.append([name, grouped(each["events"]), count(each["untraced"]), count(each["instructions"])])
    parts += ["Whole workloads, the mean over all events:",
              table(["", "events", "untraced, an event", "added, an event"], rows)]
    for name, each in found["workloads"].items():
        if "stacks" not in name:
            continue
        shown = each["functions"][:12]
        rest = each["instructions"] - sum(mean for _, mean in shown)
        rows = [[f"`{function}`", f"{mean:.1f}"] for function, mean in shown]
        rows.append(["everything else, the runtime's longer ways among it", f"{rest:.1f}"])
        parts += [f"{name}, by function of libleaktrace.so (its own instructions, without those of functions it calls):",
                  table(["function", "instructions an event"], rows)]
    return parts


def plain(results):
    """The results as JSON values, every round kept."""
    workloads = [{
        "name": workload["name"], "arguments": workload["arguments"],
        "recorders": {name: plain_measurement(each) for name, each in workload["recorders"].items()},
        "readers": {name: plain_measurement(each) for name, each in workload["readers"].items()},
        "readerEvents": workload["reader events"],
    } for workload in results["workloads"]]
    return {"rounds": results["rounds"], "workloads": workloads, "instructions": results.get("instructions")}
