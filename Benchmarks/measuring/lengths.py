"""Memory that tracing adds to the program, for runs of different lengths."""

from .figures import megabytes, table
from .parts import heading_lines
from .processes import memory_of
from .recorders import Workload
from .rounds import say

HEADING = "# Memory and the length of a run"
FULL = {"churn": [["18", "10"], ["18", "40"], ["18", "160"]], "json": [["5000", "10"], ["5000", "40"], ["5000", "160"]]}
QUICK = {"churn": [["12", "20"], ["12", "40"]], "json": [["200", "5"], ["200", "10"]]}


def measure(ways, programs, quick, directory):
    """By title of the run, by way: resident bytes at most, of the program and of everything together."""
    found = {}
    for name, runs in (QUICK if quick else FULL).items():
        for arguments in runs:
            workload = Workload(name, programs[name], arguments)
            say(f"memory of {name} {' '.join(arguments)}")
            measured = {}
            for way in ways:
                memory = memory_of(way.command(workload, directory), directory, workload.program)
                measured[way.name] = {"program": memory.program, "all": memory.all}
            found[" ".join([name] + arguments)] = measured
    return {"runs": found}


def added(found, title, way):
    """Bytes that tracing adds to the program."""
    return found[title][way]["program"] - found[title]["untraced"]["program"]


def markdown(found, part):
    found = found["runs"]
    ways = [way for way in next(iter(found.values())) if way != "untraced"]
    rows = [[title, megabytes(measured["untraced"]["program"])] + [megabytes(added(found, title, way)) for way in ways] for title, measured in found.items()]
    return "\n\n".join([
        HEADING, heading_lines(part),
        "The program's own largest resident size untraced, and what each tool adds to it, in MB.",
        table(["", "untraced"] + ways, rows),
    ])
