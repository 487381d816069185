"""Many threads: what recording adds when threads share the work, beside what it adds to one thread that does all of it."""

import statistics

from .figures import Series, grouped, table
from .parts import heading_lines
from .recorders import Workload
from .rounds import measure_recorders, plain_measurement

HEADING = "# Many threads"
THREADS = (1, 8, 64)
FULL, QUICK = ["15", "64"], ["10", "64"]  # depth of the trees, and how many the threads make together


def measure(ways, program, rounds, quick, directory):
    """By number of threads, the measurements of each way."""
    found = {}
    for threads in THREADS:
        workload = Workload(f"threads {threads}", program, [str(threads)] + (QUICK if quick else FULL))
        found[threads] = measure_recorders(ways, workload, rounds, directory)
    return {"arguments": QUICK if quick else FULL, "threads": {
        str(threads): {name: plain_measurement(each) for name, each in measured.items()} for threads, measured in found.items()}}


def ratio(found, threads, way, key="processor"):
    """Times the untraced run: the median of the rounds' ratios."""
    measured = found["threads"][str(threads)]
    return statistics.median(a / b for a, b in zip(measured[way][key], measured["untraced"][key]))


def against_one(found, threads, way):
    """The ratio with so many threads against that with one."""
    return ratio(found, threads, way) / ratio(found, 1, way)


def markdown(found, part):
    rows = []
    for threads, measured in found["threads"].items():
        for way, each in measured.items():
            if way == "untraced":
                rows.append([f"{threads}, untraced", Series(each["wall"]).seconds(), "", Series(each["processor"]).seconds(), "", "", ""])
                continue
            events = each["facts"].get("events")
            rows.append([
                f"{threads}, {way}", Series(each["wall"]).seconds(), f"{ratio(found, threads, way, 'wall'):.2f}", Series(each["processor"]).seconds(),
                f"{ratio(found, threads, way):.2f}", f"{against_one(found, threads, way):.2f}", grouped(events) if events else ""])
    return "\n\n".join([
        HEADING, heading_lines(part),
        f"`threads N {' '.join(found['arguments'])}`: N threads share the work of making and dropping binary trees, so that it is the same for any N. *Processor* is user and "
        "system time of the command and all it starts; its ratio is to the untraced run with as many threads, and *against one* is that ratio against the ratio with one "
        "thread: 1 if a thread costs as much among others as alone.",
        table(["threads", "wall", "ratio", "processor", "ratio", "against one", "events"], rows),
    ])
