"""The first table: what was aimed at, what was measured, and what heaptrack does. Everything in it is computed from results.json and aims.json."""

import json
import os
import statistics

from . import lengths, server, threads
from .figures import table

HEADING = "# Summary"
AIMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "aims.json")


class Row:
    """One figure. `value` and `peer` are numbers, or None where nothing was measured or there is nothing to compare with."""

    def __init__(self, part, name, value, peer=None, unit="", digits=2):
        self.part, self.name, self.value, self.peer, self.unit, self.digits = part, name, value, peer, unit, digits

    def text(self, number):
        return "" if number is None else f"{number:,.{self.digits}f}{self.unit}"


def _ratio(measured, way):
    if way not in measured:
        return None
    return statistics.median(a / b for a, b in zip(measured[way]["wall"], measured["untraced"]["wall"]))


def _recording(found):
    for workload in found["workloads"]:
        title, measured = " ".join([workload["name"]] + workload["arguments"]), workload["recorders"]
        for retains, what in (("off", "allocations and frees"), ("stacks", "every retain and release too")):
            yield Row("recording", f"{title}: {what} (`--arc {retains}`), times the untraced run", _ratio(measured, f"leaktrace --arc {retains}"),
                      _ratio(measured, "heaptrack"), " ×")
        events = measured["leaktrace --arc off"]["facts"]["events"]
        peer = measured["heaptrack"]["facts"]["bytes"] / events if "heaptrack" in measured else None
        for retains in ("off", "stacks"):
            facts = measured[f"leaktrace --arc {retains}"]["facts"]
            yield Row("recording", f"{title}: bytes an event, `--arc {retains}`", facts["bytes"] / facts["events"], peer, digits=3)
        readers = workload["readers"]
        for way, where in (("", ""), (", one core", ", pinned to one core")):
            for retains in ("off", "stacks"):
                yield Row("recording", f"{title}: replay and report{where}, `--arc {retains}`, million events/s", _rate(workload, f"leaktrace analyze ({retains}){way}"),
                          _rate(workload, f"heaptrack_print{way}") if f"heaptrack_print{way}" in readers else None, digits=1)


def _rate(workload, reader):
    if reader not in workload["readers"] or reader not in workload["readerEvents"]:
        return None
    return workload["readerEvents"][reader] / statistics.median(workload["readers"][reader]["wall"]) / 1e6


def _lengths(found):
    runs = {}
    for title in found["runs"]:
        runs.setdefault(title.split()[0], []).append(title)
    for name, titles in runs.items():
        def added(way):
            return max(lengths.added(found["runs"], title, way) for title in titles) / 1e6 if way in found["runs"][titles[0]] else None
        shown = ", ".join(title.split()[-1] for title in titles)
        for retains in ("off", "stacks"):
            yield Row("lengths", f"{name}, {shown} iterations: memory added to the program at most, `--arc {retains}`", added(f"leaktrace --arc {retains}"), added("heaptrack"), " MB", 1)


def _threads(found):
    for count in threads.THREADS[1:]:
        for retains in ("off", "stacks"):
            way = f"leaktrace --arc {retains}"
            peer = threads.against_one(found, count, "heaptrack") if "heaptrack" in found["threads"][str(count)] else None
            yield Row("threads", f"{count} threads: overhead a thread, times that of one thread alone, `--arc {retains}`", threads.against_one(found, count, way), peer, " ×")


def _server(found):
    for name in server.PERCENTILES[:3]:
        def times(way):
            return server.median(found, way, name) / server.median(found, "untraced", name) if way in found["ways"] else None
        for retains in ("off", "stacks"):
            yield Row("server", f"{found['rate']:,} requests/s: {name}, `--arc {retains}`, times the untraced {server.median(found, 'untraced', name) / 1000:.2f} ms",
                      times(f"leaktrace --arc {retains}"), times("heaptrack"), " ×")


def _billion(found):
    events = found["events"] / 1e6
    yield Row("billion", f"{events:,.0f} million events: analysed in", statistics.median(found["wall"]), None, " s", 0)
    yield Row("billion", f"{events:,.0f} million events: peak memory of the analysis", max(found["peak"]) / 1e6, None, " MB", 0)


ROWS = {"recording": _recording, "lengths": _lengths, "threads": _threads, "server": _server, "billion": _billion}


def rows(values):
    return [row for part, make in ROWS.items() if part in values for row in make(values[part])]


def _aim(aims, row):
    """The first aim whose words all are in the row's name: a limit and whether the figure is to stay below it."""
    for aim in aims:
        if all(word in row.name for word in aim["row"]):
            return ("at most", aim["at most"]) if "at most" in aim else ("at least", aim["at least"])
    return None


def _reached(row, aim):
    if aim is None or row.value is None:
        return ""
    kind, limit = aim
    return "yes" if (row.value <= limit if kind == "at most" else row.value >= limit) else "**no**"


def markdown(values, aims=None):
    """The table of all that was measured at any time; the date and version of each part stand with it."""
    if aims is None:
        with open(AIMS) as file:
            aims = json.load(file)
    found = rows(values)
    lines, counts = [], {"yes": 0, "**no**": 0}
    for row in found:
        aim = _aim(aims, row)
        reached = _reached(row, aim)
        if reached:
            counts[reached] += 1
        lines.append([row.name, f"{'≤' if aim[0] == 'at most' else '≥'} {row.text(aim[1])}" if aim else "", row.text(row.value) or "not measured", row.text(row.peer), reached])
    sources = [f"{part}: {values[part]['part']['date']}, `scripts/bench {values[part]['part']['arguments']}`, leaktrace {values[part]['part']['machine']['leaktrace']}"
               + _doubts(values[part]) for part in ROWS if part in values]
    missing = [part for part in ROWS if part not in values]
    return "\n\n".join([
        HEADING,
        "Written by `scripts/bench`, from `results.json`, which has every round, and `aims.json`. Medians; a peer's figure is heaptrack's for allocations and frees, which are all it records. "
        f"Of {counts['yes'] + counts['**no**']} aims {counts['yes']} are reached.",
        table(["", "aim", "measured", "heaptrack", "reached"], lines),
        "Measured: " + "; ".join(sources) + "." + (f" Not measured: {', '.join(missing)}." if missing else ""),
    ]) + "\n"


def _doubts(found):
    """What a reader has to know of a part before believing it."""
    doubts = []
    if "--quick" in found["part"]["arguments"]:
        doubts.append("**quick: small workloads, these figures say nothing**")
    if found["part"].get("others", 0) > 0.25:
        doubts.append(f"**disturbed: others kept up to {found['part']['others']:.1f} processors busy**")
    if "dirty" in found["part"]["machine"]["leaktrace"]:
        doubts.append("changed since that commit")
    return f" ({'; '.join(doubts)})" if doubts else ""
