"""What was measured of heap images, as Markdown and as JSON."""

import statistics

from .figures import grouped, megabytes, table

HEADING = "# Heap images and their analysis"


def markdown(results):
    heap, analysis = results["images"]["heap"], results["images"]["analysis"]
    blocks, live = analysis["live"]["blocks"], analysis["live"]["bytes"]
    worst = max(heap["others"].values)
    parts = [
        HEADING,
        f"Written by `scripts/bench`. {results['date']}, `scripts/bench {results['arguments']}`.",
        table(["machine", ""], list(results["machine"].items()), numbers=False),
        f"**Other processes kept up to {worst:.1f} processors busy during a round: the times below are disturbed. "
        "Sizes and memory are not.**"
        if worst > 0.25 else f"Other processes kept at most {worst:.2f} processors busy during any round.",
        f"Medians of {results['rounds']} rounds, with the smallest and largest; times in seconds unless they say otherwise.",
    ]
    parts += _taking(heap, blocks, live)
    parts += _analysis(heap, analysis, blocks)
    parts += _threads(results["images"]["threads"])
    parts += _graph(results["images"]["graph"])
    return "\n\n".join(parts) + "\n"


def _spread(series, scale=1.0, digits=2):
    return f"{series.median * scale:.{digits}f} ({min(series.values) * scale:.{digits}f}…{max(series.values) * scale:.{digits}f})"


def _taking(heap, blocks, live):
    samples = heap["samples"].series
    rows = []
    for kind, title in (("idle", "asked for, program idle"), ("writing", "asked for, program writes to every object"),
                        ("exit", "at exit")):
        call = samples.get(f"{kind}: call")
        rows.append([title, _spread(samples[f"{kind}: pause"], 1e3, 1), _spread(call, 1e3, 1) if call else "",
                     _spread(samples[f"{kind}: total"])])
    size = samples["image bytes"].median
    added = samples.get("writing: added memory")
    writes = [["untraced", _spread(samples["untraced: write"], 1, 0)], ["traced", _spread(samples["traced: write"], 1, 0)]]
    if "writing: write" in samples:
        writes.append(["traced, while an image is being written", _spread(samples["writing: write"], 1, 0)])
    return [
        f"## Taking an image: heap {' '.join(heap['arguments'])}",
        f"`workloads/heap.swift` keeps {grouped(blocks)} live blocks of {megabytes(live)} MB, and has one busy thread and one that sleeps. "
        "It is recorded by `leaktrace record -o FILE -- heap …`. *Pause*: how long the other thread stood still. *Call*: how long "
        "`leaktrace_snapshot` took, which returns while the image is being written. *Total*: until it was written.",
        table(["", "pause ms", "call ms", "total s"], rows),
        table(["image", ""], [
            ["words kept", grouped(int(samples["words"].median))],
            ["resident memory looked at, MB", megabytes(samples["captured"].median)],
            ["in the trace, MB", megabytes(size)],
            ["bytes a live block", f"{size / blocks:.2f}"],
            ["bytes a live byte", f"{size / live:.4f}"],
            ["the program's resident memory, MB", megabytes(samples["resident"].median)],
            ["added while it is written and the program writes to every object, MB",
             megabytes(added.median) if added else "not measured: the copy had ended, or its memory may not be read"],
        ]),
        "Added memory is what the program and the copy have together, pages that they share counted once and page tables counted in, at "
        "the most that was seen, less what the program had before.",
        "Writing to an account, in nanoseconds; the first write to a page after the copy was made has it copied:",
        table(["", "ns"], writes),
        "From the end of the program's work until the process has gone; the heap is not freed. Traced, this includes the image.",
        table(["", "s"], [["untraced", _spread(samples["untraced: exit"])], ["traced", _spread(samples["traced: exit"])],
                          ["building the heap, untraced", _spread(samples["untraced: built"])],
                          ["building the heap, traced", _spread(samples["traced: built"])]]),
    ]


def _analysis(heap, analysis, blocks):
    samples = analysis["samples"]
    peaks = {name: max(samples[f"{name}: peak"].values) for name in ("replay", "analyze")}
    rows = [[title, samples[f"{name}: wall"].seconds(), samples[f"{name}: processor"].seconds(), megabytes(peaks[name]),
             f"{peaks[name] / blocks:.0f}"]
            for name, title in (("replay", "replay and sites alone (`--together`)"), ("analyze", "all of it"))]
    phases = [[name, each["wall"].seconds(), megabytes(max(each["peak"].values)), megabytes(each["after"].median - each["before"].median)]
              for name, each in analysis["phases"].items()]
    expected = heap["leaked"]
    findings = [[title, grouped(expected.get(kind, 0)), " + ".join(grouped(n) for n in analysis["findings"].get(kind, [])) or "none"]
                for kind, title in (("closures", "cycles through a closure"), ("partners", "cycles of two objects"),
                                    ("counts", "objects with a count too many"))]
    findings.append(["anything else", 0, " + ".join(grouped(n) for n in analysis["findings"].get("other", [])) or "none"])
    wrong = any(analysis["findings"].get(kind, []) != [expected.get(kind, 0)] for kind in ("closures", "partners", "counts"))
    wrong = wrong or "other" in analysis["findings"]
    return [
        "## Analysing it",
        f"`leaktrace analyze` of the trace, with the image that was taken at exit: {grouped(blocks)} blocks, "
        f"{grouped(analysis['notes']['edges'])} references.",
        table(["", "wall", "processor", "peak MB", "bytes a block"], rows),
        "Phase by phase, in one process; *image* and *order of blocks* are part of *leak analysis*, and are measured once more by "
        "themselves. *Kept*: what the phase leaves resident.",
        table(["phase", "wall", "peak MB", "kept MB"], phases),
        "What the program says that it leaked, and instances in findings" + (". **They differ.**" if wrong else "; they agree:"),
        table(["", "leaked", "found"], findings),
    ] + ([f"Remarks of the analysis: {'; '.join(analysis['remarks'])}."] if analysis["remarks"] else [])


def _threads(threads):
    rows = []
    for count, each in threads.items():
        pauses = each["pauses"]
        rows.append([count, len(each["totals"]), each["unfrozen"],
                     f"{statistics.median(pauses) * 1e3:.2f}" if pauses else "", f"{max(pauses) * 1e3:.2f}" if pauses else "",
                     f"{statistics.median(each['totals']) * 1e3:.1f}", f"{max(each['totals']) * 1e3:.1f}"])
    return [
        "## Busy threads",
        "`Tests/Programs/snapshot-threads.c`: threads that allocate, free and take one lock all the time, while the main thread has one "
        "image after the other taken. Milliseconds.",
        table(["threads", "images", "could not be stopped", "pause, median", "pause, longest", "total, median", "total, longest"], rows),
    ]


def _graph(graph):
    parts = [
        "## The graph algorithms alone",
        "`measured/graph-algorithms`: a made-up heap, three references a node on average. *Ordered*: what belongs together lies together. "
        "*Shuffled*: nothing does, the worst case. *Bytes a node*: the most that was resident during the phase, the graph and everything "
        "else that the program keeps counted in.",
    ]
    for order, each in graph.items():
        notes, phases = each["notes"], each["phases"]
        nodes = notes["nodes"]
        rows = [[name, phase["wall"].seconds(), f"{phase['wall'].median / nodes * 1e9:.0f}", f"{max(phase['peak'].values) / nodes:.0f}"]
                for name, phase in phases.items()]
        rows.append(["all", f"{sum(phase['wall'].median for phase in phases.values()):.2f}",
                     f"{sum(phase['wall'].median for phase in phases.values()) / nodes * 1e9:.0f}",
                     f"{max(max(phase['peak'].values) for phase in phases.values()) / nodes:.0f}"])
        parts += [f"{order.capitalize()}: {grouped(nodes)} nodes, {grouped(notes['edges'])} edges, the largest component "
                  f"{grouped(notes['largest component'])} nodes.",
                  table(["", "s", "ns a node", "bytes a node"], rows)]
    return parts


def plain(results):
    """As JSON values, every round kept."""
    images = results["images"]
    heap, analysis = images["heap"], images["analysis"]

    def phases(found):
        return {name: samples.plain() for name, samples in found.items()}

    return {
        "date": results["date"], "arguments": results["arguments"], "rounds": results["rounds"], "machine": results["machine"],
        "heap": {"arguments": heap["arguments"], "leaked": heap["leaked"], "others": heap["others"].values, **heap["samples"].plain()},
        "analysis": {**analysis["samples"].plain(), "phases": phases(analysis["phases"]), "notes": analysis["notes"],
                     "findings": analysis["findings"], "remarks": analysis["remarks"], "live": analysis["live"]},
        "threads": images["threads"],
        "graph": {order: {"phases": phases(each["phases"]), "notes": each["notes"]} for order, each in images["graph"].items()},
    }
