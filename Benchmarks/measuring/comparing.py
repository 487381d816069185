"""What comparing two long traces takes, beside analysing one of them: time and memory."""

import os

from .figures import grouped, megabytes, table
from .processes import run
from .rounds import measure_readers, say

HEADING = "# Comparing builds"
LONG = {"churn": ["18", "40"], "json": ["5000", "36"]}
SHORT = {"churn": ["12", "20"], "json": ["200", "5"]}


def measure(tool, programs, rounds, quick, directory):
    """By title: the measurements of each command, and how large the traces are."""
    found = {}
    for name, arguments in (SHORT if quick else LONG).items():
        title = " ".join([name] + arguments)
        traces = [os.path.join(directory, f"{name}-{side}.trace") for side in ("old", "new")]
        for trace in traces:
            say(f"recording {title}")
            run([tool, "record", "--quiet", "-o", trace, "--", programs[name]] + arguments, directory)
        digest = os.path.join(directory, f"{name}-old.digest")
        run([tool, "digest", traces[0], "-o", digest], directory)
        report = run([tool, "diff", "--format", "json", digest, traces[1]], directory).output
        commands = {
            "analyze OLD": [tool, "analyze", "--limit", "1", traces[0]],
            "diff OLD NEW": [tool, "diff"] + traces,
            "diff OLD.digest NEW": [tool, "diff", digest, traces[1]],
        }
        found[title] = {
            "measured": measure_readers(commands, rounds, directory), "events": _events(report), "bytes": os.path.getsize(traces[1]),
            "digest": os.path.getsize(digest),
        }
    return found


def _events(report):
    import json
    sides = json.loads(report)
    return sum(run["events"] for run in sides["new"]["runs"])


def markdown(results):
    text = [
        HEADING, "",
        f"`scripts/bench {results['arguments']}`, {results['date']}. Two traces of the same program with the same work; nothing changed, and `diff` says so. "
        "Medians in seconds, with the smallest and largest; *peak* is the largest resident size of any round.", "",
    ]
    for title, found in results["comparisons"].items():
        rows = [[f"`{name}`", series.wall.seconds(), f"{max(series.peak.values) / 1e6:.0f}"] for name, series in found["measured"].items()]
        text += [
            f"## {title}", "",
            f"{grouped(found['events'])} events a trace, {megabytes(found['bytes'])} MB; the digest has {megabytes(found['digest'])} MB.", "",
            table(["", "wall", "peak MB"], rows), "",
        ]
    return "\n".join(text)


def plain(results):
    return {
        title: {
            **{name: found[name] for name in ("events", "bytes", "digest")},
            **{name: {"wall": series.wall.values, "peak": series.peak.values} for name, series in found["measured"].items()},
        }
        for title, found in results["comparisons"].items()
    }
