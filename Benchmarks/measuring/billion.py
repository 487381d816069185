"""A trace of a billion events: what recording and analysing it take."""

import os
import statistics

from .figures import Series, grouped, megabytes, table
from .parts import heading_lines
from .processes import FailedRun, run
from .recorders import Workload
from .rounds import say

HEADING = "# A billion events"
FULL, QUICK = ["18", "400"], ["12", "40"]
EVENTS = 1_000_000_000


def measure(tracer, program, rounds, quick, directory):
    """Recorded once; analysed in each round."""
    workload = Workload("churn", program, QUICK if quick else FULL)
    say("running " + " ".join([workload.name] + workload.arguments))
    untraced = run(workload.command, directory)
    workload.output = untraced.output
    say("recording it")
    recorded = run(tracer.command(workload, directory), directory)
    facts = tracer.check(workload, recorded.output, directory)
    if not quick and facts["events"] < EVENTS:
        raise FailedRun(f"{workload.name}: {facts['events']} events are less than a billion")
    found = {"title": " ".join([workload.name] + workload.arguments), "untraced": untraced.wall, "recorded": recorded.wall, **facts, "wall": [], "processor": [], "peak": [], "others": []}
    for number in range(rounds):
        say(f"analysing {grouped(facts['events'])} events, round {number + 1} of {rounds}")
        result = run([tracer.tool, "analyze", tracer.trace(directory)], directory)
        found["wall"].append(result.wall)
        found["processor"].append(result.processor)
        found["peak"].append(result.peak)
        found["others"].append(result.others)
    os.unlink(tracer.trace(directory))
    return found


def markdown(found, part):
    return "\n\n".join([
        HEADING, heading_lines(part),
        f"`{found['title']}` with every retain and release, then `leaktrace analyze`. Seconds and MB.",
        table(["", ""], [
            ["events", grouped(found["events"])],
            ["the run, untraced", f"{found['untraced']:.1f}"],
            ["the run, recorded", f"{found['recorded']:.1f}"],
            ["trace, MB", megabytes(found["bytes"])],
            ["bytes an event", f"{found['bytes'] / found['events']:.3f}"],
            ["analysis, wall", Series(found["wall"]).seconds()],
            ["analysis, processor", Series(found["processor"]).seconds()],
            ["analysis, million events/s", f"{found['events'] / statistics.median(found['wall']) / 1e6:.1f}"],
            ["analysis, peak MB", megabytes(max(found["peak"]))],
        ]),
    ])
