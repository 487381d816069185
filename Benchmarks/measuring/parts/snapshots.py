"""Heap images of a large heap: their cost for the program, and time and memory to find leaks in them."""

import json
import os
import re
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from typing import Annotated, Any

from ..figures import Series, grouped, megabytes, table
from ..heap_process import HeapProcess
from ..machine import ProcessorUse
from ..part import REPOSITORY, About, Bench, Part
from ..process_tree import memory
from ..processes import FailedRun, run
from ..recorders import remove_trace
from ..records import Mark
from ..rounds import say

# Arguments of heap.swift: accounts, readings per order, and the N of "every Nth account is leaked". The large heap has
# 10.5 million blocks in 1.09 GB, the quick one a tenth of that.
HEAP = ["500000", "16", "1000"]
QUICK_HEAP = ["50000", "16", "1000"]
THREADS = (1, 8, 64)
# Executable products of Package.swift.
MEASURED = ("graph-algorithms", "analysis-phases", "image-list")

Samples = dict[str, Series]  # by name


def add(samples: Samples, name: str, value: float) -> None:
    samples.setdefault(name, Series()).add(value)


@dataclass
class HeapFigures:
    arguments: list[str]
    leaked: dict[str, int]  # objects by kind of leak, as reported by the program
    others: Series
    samples: Annotated[Samples, Mark.INLINED]


@dataclass
class LiveBlocks:
    bytes: int
    blocks: int


@dataclass
class AnalysisFigures:
    samples: Annotated[Samples, Mark.INLINED]
    phases: dict[str, Samples]
    notes: dict[str, int]
    findings: dict[str, list[int]]  # by kind of leak: the instances of each finding
    remarks: list[str]
    live: LiveBlocks


@dataclass
class BusyThreads:
    pauses: list[float]  # seconds, of the images with all threads stopped
    totals: list[float]  # seconds, of all images
    unfrozen: int


@dataclass
class GraphFigures:
    phases: dict[str, Samples] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)


@dataclass
class SnapshotsResult:
    date: str
    arguments: str
    rounds: int
    machine: dict[str, Any]
    heap: HeapFigures
    analysis: AnalysisFigures
    threads: dict[str, BusyThreads]  # by number of threads
    graph: dict[str, GraphFigures]  # by order of the nodes: "ordered", "shuffled"


class Snapshots(Part[SnapshotsResult]):
    name = "snapshots"
    heading = "# Heap images and their analysis"
    result = SnapshotsResult

    def measure(self, bench: Bench) -> SnapshotsResult:
        measured = _build_measured()
        trace = bench.file("heap.trace")
        heap = _live_heap(bench, measured, QUICK_HEAP if bench.is_quick else HEAP, trace)
        analysis = _analysis(bench, measured, trace)
        os.unlink(trace)
        return SnapshotsResult(
            date=bench.about.date,
            arguments=bench.about.arguments,
            rounds=bench.rounds,
            machine=bench.about.machine,
            heap=heap,
            analysis=analysis,
            threads=_busy_threads(bench, measured, 20 if bench.is_quick else 100),
            graph=_graph_algorithms(bench, measured, 1_000_000 if bench.is_quick else 10_000_000),
        )

    def markdown(self, result: SnapshotsResult, about: About) -> str:
        blocks = result.analysis.live.blocks
        worst = max(result.heap.others.values)
        disturbance = (
            f"**Other processes kept up to {worst:.1f} processors busy during a round: the times below are not "
            "reliable. Sizes and memory are.**"
            if worst > 0.25
            else f"Other processes kept at most {worst:.2f} processors busy during any round."
        )
        parts = [
            self.heading,
            f"Measured {about.date}, `scripts/bench {about.arguments}`.",
            table(["machine", ""], list(about.machine.items()), numbers=False),
            disturbance,
            f"Values are medians of {result.rounds} rounds, with minimum and maximum in parentheses. Times are in "
            "seconds unless another unit is given.",
        ]
        parts += _taking_section(result.heap, blocks, result.analysis.live.bytes)
        parts += _analysis_section(result.heap, result.analysis, blocks)
        parts += _threads_section(result.threads)
        parts += _graph_section(result.graph)
        return "\n\n".join(parts)


# --- measuring --------------------------------------------------------------------------------------------------------


def _build_measured() -> str:
    """Builds the programs that measure themselves. Returns the directory of the products."""
    command = ["swift", "build", "-c", "release", "--package-path", REPOSITORY]
    say("compiling the programs that measure themselves")
    for program in MEASURED:
        subprocess.run([*command, "--product", program], check=True, stdout=subprocess.DEVNULL)
    return subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _live_heap(bench: Bench, measured: str, arguments: list[str], trace: str) -> HeapFigures:
    """Measures images of a large heap. The program has a busy and a sleeping thread. Leaves the last round's trace."""
    found = HeapFigures(arguments, {}, Series(), {})
    heap = bench.programs.path("heap")
    command = [bench.tool, "record", "-o", trace, "--", heap, *arguments]
    for number in range(bench.rounds):
        use, begin, before = ProcessorUse(), time.monotonic(), sum(os.times()[:4])
        _run_untraced([heap, *arguments], found.samples, bench.directory)
        remove_trace(trace)
        found.leaked = _run_traced(command, heap, found.samples, bench.directory)
        images = _lines(measured, "image-list", [trace], bench.directory)
        if len(images) != 3 or not all(image["isWhole"] and image["isFrozen"] for image in images):
            reason = f"expected three whole images with all threads stopped: {images}"
            raise FailedRun(f"{' '.join(command)}: {reason}")
        for image, kind in zip(images, ("idle", "writing", "exit"), strict=True):
            add(found.samples, f"{kind}: pause", image["pause"])
            add(found.samples, f"{kind}: total", image["total"])
        add(found.samples, "words", images[-1]["words"])
        add(found.samples, "captured", images[-1]["captured"])
        add(found.samples, "image bytes", _image_bytes(bench.tool, trace, bench.directory)[-1])
        add(found.samples, "trace bytes", os.path.getsize(trace))
        wall = time.monotonic() - begin
        # The processor time of the copies is not reported. Each keeps one processor busy while it writes.
        own = sum(os.times()[:4]) - before + sum(image["total"] for image in images)
        found.others.add(use.others(own, wall))
        say(f"heap images: round {number + 1} of {bench.rounds}")
    return found


def _run_untraced(command: list[str], samples: Samples, directory: str) -> None:
    with HeapProcess(command, directory) as process:
        add(samples, "untraced: built", int(process.expect("built")[0]) / 1e9)
        count, taken = process.write()
        add(samples, "untraced: write", taken / count)
        add(samples, "untraced: exit", process.exit())


def _run_traced(command: list[str], heap: str, samples: Samples, directory: str) -> dict[str, int]:
    """Returns the number of leaked objects by kind, as reported by the program."""
    with HeapProcess(command, directory) as process:
        words = process.expect("built")
        add(samples, "traced: built", int(words[0]) / 1e9)
        process.find(heap)
        count, taken = process.write()
        add(samples, "traced: write", taken / count)
        # The first image is of an idle program. During the second, the program writes to the whole heap.
        add(samples, "idle: call", process.snapshot())
        process.wait_for_copies(lambda: time.sleep(0.05))
        program = process.find(heap)
        base = memory(program)
        add(samples, "resident", base or 0)
        add(samples, "writing: call", process.snapshot())
        added: list[int] = []
        writes: list[tuple[int, int]] = []

        def write() -> None:
            sizes = [memory(each) for each in [program, *process.copies()]]
            known = [size for size in sizes if size]
            if base and len(known) == len(sizes) > 1:
                added.append(sum(known) - base)
            writes.append(process.write())

        process.wait_for_copies(write)
        if added:
            add(samples, "writing: added memory", max(added))
        if writes:
            add(samples, "writing: write", sum(taken for _, taken in writes) / sum(count for count, _ in writes))
        add(samples, "traced: exit", process.exit())
        return {words[index]: int(words[index + 1]) for index in range(1, len(words), 2)}


def _image_bytes(tool: str, trace: str, directory: str) -> list[int]:
    """Returns the bytes that each image takes in the trace, in order of time."""
    chunks = run([tool, "dump", "--chunks", trace], directory).output
    sizes: list[int] = []
    for kind, stored in re.findall(r"^\d+ chunk .*?\bkind=(\w+) .*?\bstored=(\d+)", chunks, re.MULTILINE):
        if kind == "snapshot":
            sizes.append(0)
        if kind in ("snapshot", "memory", "snapshot_end") and sizes:
            sizes[-1] += int(stored)
    return sizes


def _lines(measured: str, name: str, arguments: list[str], directory: str) -> list[dict[str, Any]]:
    """Runs a program that prints a JSON value per line. Returns the values."""
    output = run([os.path.join(measured, name), *arguments], directory).output
    return [json.loads(line) for line in output.splitlines()]


def _analysis(bench: Bench, measured: str, trace: str) -> AnalysisFigures:
    """Measures the replay, the whole analysis, and each phase of the analysis of the last trace."""
    samples: Samples = {}
    phases: dict[str, Samples] = {}
    notes: dict[str, int] = {}
    report: dict[str, Any] = {}
    for number in range(bench.rounds):
        for name, options in (("replay", ["--together"]), ("analyze", ["--format", "json"])):
            result = run([bench.tool, "analyze", *options, trace], bench.directory)
            add(samples, f"{name}: wall", result.wall)
            add(samples, f"{name}: processor", result.processor)
            add(samples, f"{name}: peak", result.peak)
            if name == "analyze":
                report = json.loads(result.output)["reports"][0]
        _collect(_lines(measured, "analysis-phases", [trace], bench.directory), phases, notes)
        say(f"analysis: round {number + 1} of {bench.rounds}")
    total = report["traces"][0]["atExit"]
    return AnalysisFigures(
        samples=samples,
        phases=phases,
        notes=notes,
        findings=instances_by_kind(report["findings"]),
        remarks=report["findingRemarks"],
        live=LiveBlocks(total["liveBytes"], notes["blocks"]),
    )


def instances_by_kind(findings: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Returns the instances of each finding, by the workload's three kinds of leaks and "other"."""
    found: dict[str, list[int]] = {}
    for finding in findings:
        if finding["path"][0]["type"] != "Account":
            kind = "other"
        elif not finding["isCycle"]:
            kind = "counts"
        else:
            kind = "closures" if any(step["kind"] == "closure" for step in finding["path"]) else "partners"
        found.setdefault(kind, []).append(finding["instances"])
    return found


def _collect(found: list[dict[str, Any]], phases: dict[str, Samples], notes: dict[str, int]) -> None:
    for line in found:
        if "note" in line:
            notes[line["note"]] = line["value"]
        else:
            samples = phases.setdefault(line["phase"], {})
            for key in ("wall", "processor", "peak", "before", "after"):
                add(samples, key, line[key])


def _busy_threads(bench: Bench, measured: str, count: int) -> dict[str, BusyThreads]:
    """Measures pauses of programs whose threads constantly allocate, free and take a lock."""
    source = os.path.join(REPOSITORY, "Tests", "Programs", "snapshot-threads.c")
    program = bench.file("snapshot-threads")
    subprocess.run(["cc", "-O2", "-o", program, source, "-lpthread", "-ldl"], check=True)
    trace = bench.file("threads.trace")
    found = {}
    for threads in THREADS:
        remove_trace(trace)
        command = [bench.tool, "record", "-q", "-o", trace, "--", program, str(threads), str(count)]
        result = run(command, bench.directory)
        if "nothing was lost" not in result.output:
            raise FailedRun(f"{program}: printed {result.output!r}")
        images = _lines(measured, "image-list", [trace], bench.directory)[:count]
        if len(images) != count:
            raise FailedRun(f"{program}: {len(images)} images instead of {count}")
        os.unlink(trace)
        found[str(threads)] = BusyThreads(
            pauses=[image["pause"] for image in images if image["isFrozen"]],
            totals=[image["total"] for image in images],
            unfrozen=sum(not image["isFrozen"] for image in images),
        )
        say(f"images of {threads} busy threads")
    return found


def _graph_algorithms(bench: Bench, measured: str, nodes: int) -> dict[str, GraphFigures]:
    found = {}
    for order in ("ordered", "shuffled"):
        figures = GraphFigures()
        for _ in range(bench.rounds):
            lines = _lines(measured, "graph-algorithms", [str(nodes), order], bench.directory)
            _collect(lines, figures.phases, figures.notes)
        found[order] = figures
        say(f"graph algorithms, {order}")
    return found


# --- reporting --------------------------------------------------------------------------------------------------------


def _taking_section(heap: HeapFigures, blocks: int, live: int) -> list[str]:
    samples = heap.samples
    rows = []
    for kind, title in (
        ("idle", "on request, program idle"),
        ("writing", "on request, program writes to all objects"),
        ("exit", "at exit"),
    ):
        pause, call, total = (samples.get(f"{kind}: {name}") for name in ("pause", "call", "total"))
        rows.append(
            [
                title,
                pause.text(1e3, 1) if pause else "",
                call.text(1e3, 1) if call else "",
                total.text() if total else "",
            ]
        )
    size = samples["image bytes"].median
    added = samples.get("writing: added memory")
    writes = [["untraced", samples["untraced: write"].text(1, 0)], ["traced", samples["traced: write"].text(1, 0)]]
    if "writing: write" in samples:
        writes.append(["traced, during an image", samples["writing: write"].text(1, 0)])
    return [
        f"## Taking an image: heap {' '.join(heap.arguments)}",
        f"`workloads/heap.swift` keeps {grouped(blocks)} live blocks with {megabytes(live)} MB. It has a busy and a "
        "sleeping thread. The command is `leaktrace record -o FILE -- heap …`. *Pause* is how long the other thread "
        "was stopped. *Call* is the duration of the call to `leaktrace_snapshot`. It returns while a copy of the "
        "process still writes the image. *Total* is the time until the image was written.",
        table(["", "pause ms", "call ms", "total s"], rows),
        table(
            ["image", ""],
            [
                ["words in the image", grouped(int(samples["words"].median))],
                ["resident memory read, MB", megabytes(samples["captured"].median)],
                ["size in the trace, MB", megabytes(size)],
                ["bytes per live block", f"{size / blocks:.2f}"],
                ["bytes per live byte", f"{size / live:.4f}"],
                ["resident memory of the program, MB", megabytes(samples["resident"].median)],
                [
                    "memory added while the program writes to all objects, MB",
                    megabytes(added.median)
                    if added
                    else "not measured: the copy had ended, or its memory was not readable",
                ],
            ],
        ),
        "*Memory added* is the peak memory of the program and the copy together, minus the program's memory before the "
        "image. Pages that both share count once. Page tables are included.",
        "The next table has the time of a write to an account. The first write to a page after the fork copies it.",
        table(["", "ns"], writes),
        "*Exit* is the time from the end of the program's work to the end of the command. The program does not free "
        "its heap. With tracing, the time includes the image at exit.",
        table(
            ["", "s"],
            [
                ["exit, untraced", samples["untraced: exit"].text()],
                ["exit, traced", samples["traced: exit"].text()],
                ["building the heap, untraced", samples["untraced: built"].text()],
                ["building the heap, traced", samples["traced: built"].text()],
            ],
        ),
    ]


def _analysis_section(heap: HeapFigures, analysis: AnalysisFigures, blocks: int) -> list[str]:
    rows = []
    for name, title in (("replay", "replay and sites only (`--together`)"), ("analyze", "whole analysis")):
        wall, processor = analysis.samples[f"{name}: wall"], analysis.samples[f"{name}: processor"]
        peak = max(analysis.samples[f"{name}: peak"].values)
        rows.append([title, wall.text(), processor.text(), megabytes(peak), f"{peak / blocks:.0f}"])
    phases = [
        [
            name,
            each["wall"].text(),
            megabytes(max(each["peak"].values)),
            megabytes(each["after"].median - each["before"].median),
        ]
        for name, each in analysis.phases.items()
    ]

    def found(kind: str) -> str:
        return " + ".join(grouped(count) for count in analysis.findings.get(kind, [])) or "none"

    kinds = {
        "closures": "cycles through a closure",
        "partners": "cycles of two objects",
        "counts": "objects with an unbalanced retain",
    }
    findings = [[title, grouped(heap.leaked.get(kind, 0)), found(kind)] for kind, title in kinds.items()]
    findings.append(["other", "0", found("other")])
    differs = any(analysis.findings.get(kind, []) != [heap.leaked.get(kind, 0)] for kind in kinds)
    differs = differs or "other" in analysis.findings
    parts = [
        "## Analysing the image",
        f"`leaktrace analyze` reads the trace with the image at exit, which has {grouped(blocks)} blocks and "
        f"{grouped(analysis.notes['edges'])} references.",
        table(["", "wall", "processor", "peak MB", "bytes per block"], rows),
        "The next table has the phases of the analysis, measured in one process. *Leak analysis* includes *image* and "
        "*order of blocks*, which are also measured separately before it. *Kept* is how much resident memory "
        "grew during the phase.",
        table(["phase", "wall", "peak MB", "kept MB"], phases),
        "*Leaked* is the number of leaked objects that the program reports. *Found* is the number of instances in "
        "findings. " + ("**The numbers differ.**" if differs else "The numbers agree."),
        table(["", "leaked", "found"], findings),
    ]
    if analysis.remarks:
        parts.append(f"Remarks of the analysis: {'; '.join(analysis.remarks)}.")
    return parts


def _threads_section(threads: dict[str, BusyThreads]) -> list[str]:
    rows = []
    for count, each in threads.items():
        rows.append(
            [
                count,
                len(each.totals),
                each.unfrozen,
                f"{statistics.median(each.pauses) * 1e3:.2f}" if each.pauses else "",
                f"{max(each.pauses) * 1e3:.2f}" if each.pauses else "",
                f"{statistics.median(each.totals) * 1e3:.1f}",
                f"{max(each.totals) * 1e3:.1f}",
            ]
        )
    header = ["threads", "images", "not stopped"]
    header += ["pause, median", "pause, longest", "total, median", "total, longest"]
    return [
        "## Busy threads",
        "The threads of `Tests/Programs/snapshot-threads.c` constantly allocate, free and take the same lock. The main "
        "thread takes one image after another. Times are in milliseconds. *Not stopped* is the number of images whose "
        "threads could not be stopped.",
        table(header, rows),
    ]


def _graph_section(graph: dict[str, GraphFigures]) -> list[str]:
    parts = [
        "## Graph algorithms",
        "`measured/graph-algorithms` runs the algorithms on a synthetic heap. A node has three references on average. "
        "In the *ordered* heap, related nodes are near one another. In the *shuffled* heap, they are not, which is the "
        "worst case for the processor's caches. *Bytes per node* is the peak resident memory of the program during the "
        "phase, including the graph.",
    ]
    for order, each in graph.items():
        nodes = each.notes["nodes"]
        rows = [
            [
                name,
                phase["wall"].text(),
                f"{phase['wall'].median / nodes * 1e9:.0f}",
                f"{max(phase['peak'].values) / nodes:.0f}",
            ]
            for name, phase in each.phases.items()
        ]
        wall = sum(phase["wall"].median for phase in each.phases.values())
        peak = max(max(phase["peak"].values) for phase in each.phases.values())
        rows.append(["all", f"{wall:.2f}", f"{wall / nodes * 1e9:.0f}", f"{peak / nodes:.0f}"])
        parts += [
            f"{order.capitalize()}: {grouped(nodes)} nodes, {grouped(each.notes['edges'])} edges. The largest "
            f"component has {grouped(each.notes['largest component'])} nodes.",
            table(["", "s", "ns per node", "bytes per node"], rows),
        ]
    return parts
