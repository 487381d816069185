"""The mutants: slips that the tests must notice.

A mutant's number is its place in the list, from 1. The environment variable MUTANT chooses it.
"""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    EXPRESSION = "expression"
    STATEMENTS = "statements"


@dataclass(frozen=True)
class Mutant:
    name: str
    breaks: str
    """One sentence for the table."""
    file: str
    function: str
    original: str
    """The text to replace. It occurs once in `context`."""
    mutated: str
    """The slip, of the same kind and type. Statements may be empty."""
    context: str = ""
    """A text that occurs once in the file. Empty: `original` occurs once itself."""
    kind: Kind = Kind.EXPRESSION


SHIM = "Sources/CTraceShim"
ANALYSIS = "Sources/TraceAnalysis"

MUTANTS = (
    # Hooks.
    Mutant(
        name="calloc-size",
        breaks="A calloc is recorded with the size of one element.",
        file=f"{SHIM}/hooks/malloc_hooks.c",
        function="record_calloc",
        context="RECORD_ALLOCATION(LT_OP_CALLOC, block, count * size);",
        original="count * size",
        mutated="size",
    ),
    Mutant(
        name="retain-as-release",
        breaks="A retain is recorded as a release.",
        file=f"{SHIM}/hooks/swift_hooks.c",
        function="record_and_retain",
        context="RECORD(LT_OP_RETAIN, object);",
        original="LT_OP_RETAIN",
        mutated="LT_OP_RELEASE",
    ),
    Mutant(
        name="thread-number",
        breaks="Every thread is recorded with the number of the process.",
        file=f"{SHIM}/process/thread_entry.c",
        function="register_thread",
        context="p = lt_put_varint(p, (uint64_t)thread);",
        original="(uint64_t)thread",
        mutated="(uint64_t)lt_process_id()",
    ),
    # Stack unwinding.
    Mutant(
        name="outermost-frame",
        breaks="A stack that needs the full unwind tables lacks its outermost frame.",
        file=f"{SHIM}/unwind/stack_capture.c",
        function="capture_by_full_tables",
        context="for (uint32_t i = stack.count; i > 0; i--)",
        original="stack.count",
        mutated="stack.count - (stack.count > 1)",
    ),
    # Sampling.
    Mutant(
        name="sample-weight",
        breaks="A sample counts for one block instead of the blocks that it represents.",
        file=f"{SHIM}/hooks/hook.c",
        function="weight_of",
        context=": lt_sample_weight(sample->size, lt_sample_period);",
        original="lt_sample_weight(sample->size, lt_sample_period)",
        mutated="lt_certain_weight(sample->size)",
    ),
    # Heap images.
    Mutant(
        name="last-page",
        breaks="A heap image lacks the last page of every run of pages.",
        file="Sources/CHeapScan/memory_scan.c",
        function="go_through",
        context="for (uint32_t i = 0; i < pages; i++) {",
        original="i < pages",
        mutated="i + 1 < pages",
    ),
    Mutant(
        name="thread-registers",
        breaks="A heap image lacks the registers of stopped threads.",
        file=f"{SHIM}/image/thread_stop.c",
        function="read_registers",
        original="LT_SNAPSHOT_THREAD_REGISTERS | (is_interrupted_wait(&stopped) ? LT_SNAPSHOT_THREAD_WAITING : 0)",
        mutated="is_interrupted_wait(&stopped) ? LT_SNAPSHOT_THREAD_WAITING : 0",
    ),
    # The recorded program's surroundings.
    Mutant(
        name="environment-left",
        breaks="The recorder leaves its LEAKTRACE_ variables in the program's environment.",
        file=f"{SHIM}/process/environment.c",
        function="forget_own",
        original="forget(environment, ownPrefix);",
        mutated="",
        kind=Kind.STATEMENTS,
    ),
    Mutant(
        name="descriptor-left",
        breaks="The recorder leaves a descriptor open in the program.",
        file=f"{SHIM}/hooks/loader_watch.c",
        function="patch_r_brk",
        original="lt_close(memory);",
        mutated="",
        kind=Kind.STATEMENTS,
    ),
    Mutant(
        name="spawned-child",
        breaks="A followed child is not recorded if posix_spawn gives it a new environment.",
        file=f"{SHIM}/hooks/process_hooks.c",
        function="SPAWN",
        original="lt_settings.followsChildren && lt_settings.preload[0]",
        mutated="false",
    ),
    Mutant(
        name="exit-status",
        breaks="The command ends with 1 for every status of the program except 0.",
        file="Sources/leaktrace/TargetProcess.swift",
        function="endAsTargetDid",
        context="case .exited(let code): exit(Int32(code))",
        original="Int32(code)",
        mutated="code == 0 ? 0 : 1",
    ),
    # Inspecting and attaching.
    Mutant(
        name="cached-blocks",
        breaks="Freed blocks in threads' caches count as live.",
        file="Sources/CHeapScan/allocator_metadata/thread_caches.c",
        function="lt_thread_caches_examine",
        original="for (size_t i = 0; i < c->entries.count; i++) lt_list_append(c->kept, lt_list_item(&c->entries, i));",
        mutated="",
        kind=Kind.STATEMENTS,
    ),
    Mutant(
        name="detach-reason",
        breaks="A detached recording says that it was stopped.",
        file=f"{SHIM}/process/lifecycle.c",
        function="lt_process_detach",
        original="LT_CLOSE_DETACHED",
        mutated="LT_CLOSE_STOPPED",
    ),
    # The trace format.
    Mutant(
        name="checksum",
        breaks="A chunk is read although its checksum is wrong.",
        file=f"{ANALYSIS}/TraceReading/Format/ChunkScanner.swift",
        function="scan",
        context="if found == expected {",
        original="found == expected",
        mutated="true",
    ),
    Mutant(
        name="truncated-tail",
        breaks="A trace that is cut short is reported as whole.",
        file=f"{ANALYSIS}/TraceReading/Format/ChunkScanner.swift",
        function="scan",
        context="""\
      if present < UInt64(chunk.storedSize) {
        if mayRemark {""",
        original="mayRemark",
        mutated="false",
    ),
    # Replay.
    Mutant(
        name="realloc-size",
        breaks="A block keeps its old size after a realloc.",
        file=f"{ANALYSIS}/TraceReading/Replay/Replayer.swift",
        function="takeAllocation",
        context="address: address, size: event.pointee.size, birthTime",
        original="event.pointee.size",
        mutated="event.pointee.operation == .realloc && state.pointee.reallocated.address != 0"
        " ? state.pointee.reallocated.size : event.pointee.size",
    ),
    # Symbolication and reflection.
    Mutant(
        name="line-after-call",
        breaks="A frame has the line after its call.",
        file=f"{ANALYSIS}/TraceSymbolication/Symbolicator.swift",
        function="target",
        context="address == 0 ? address : address - 1",
        original="address - 1",
        mutated="address",
    ),
    Mutant(
        name="enum-tag",
        breaks="The tag of a nested enumeration is read from the wrong place.",
        file=f"{ANALYSIS}/HeapAnalysis/SwiftReflection/EnumerationLayout.swift",
        function="moved",
        context=".tag(bits: bits.map { $0 + offset * 8 }",
        original="offset * 8",
        mutated="offset",
    ),
    # The heap's graph.
    Mutant(
        name="weak-as-strong",
        breaks="A weak reference counts as a strong one.",
        file=f"{ANALYSIS}/HeapAnalysis/ObjectGraph/NodeReading.swift",
        function="addWeak",
        original="EdgeStrength.weak.rawValue",
        mutated="EdgeStrength.strong.rawValue",
    ),
    Mutant(
        name="retained-size",
        breaks="The retained size of an object counts one level of objects.",
        file=f"{ANALYSIS}/HeapAnalysis/HeapGraph/DominatorTree.swift",
        function="sums",
        original="Self.saturatingSum(sums[Int(dominator)], sum)",
        mutated="Self.saturatingSum(sums[Int(dominator)], size(node))",
    ),
    # Verdicts.
    Mutant(
        name="survivor-threshold",
        breaks="Two objects that outlive their siblings are suspected.",
        file=f"{ANALYSIS}/LeakDetection/Leaks/Survivors/SurvivorRules.swift",
        function="minOutlived",
        context="package var minOutlived = 3",
        original="3",
        mutated="2",
    ),
    Mutant(
        name="growth-threshold",
        breaks="Growth by a single object is suspected.",
        file=f"{ANALYSIS}/LeakDetection/Series/GrowthRules.swift",
        function="minRise",
        context="var minRise = 10.0",
        original="10.0",
        mutated="1.0",
    ),
    Mutant(
        name="dangling",
        breaks="A reference to freed memory is not reported if another object is there.",
        file=f"{ANALYSIS}/LeakDetection/Leaks/DanglingReferents.swift",
        function="isMismatch",
        original="!isKind(graph.type(of: found.rawValue).typeID, of: declared)",
        mutated="false",
    ),
    Mutant(
        name="suspended-task",
        breaks="A task that waits for ever is reported as lost memory.",
        file=f"{ANALYSIS}/LeakDetection/Leaks/LeakFinder.swift",
        function="group",
        context="let isWaiting = graph.type(of: first).kind == .task && graph.taskStates[first] != .finished",
        original="graph.type(of: first).kind == .task",
        mutated="false",
    ),
    # Gates and comparisons.
    Mutant(
        name="gate-limit",
        breaks="A gate fails only above its limit.",
        file=f"{ANALYSIS}/LeakGates/GateList.swift",
        function="outcome",
        original="count >= limit",
        mutated="count > limit",
    ),
    Mutant(
        name="baseline",
        breaks="An accepted finding with one instance more is not worse.",
        file=f"{ANALYSIS}/LeakGates/Baseline.swift",
        function="standing",
        original="more >= 1",
        mutated="more > 1",
    ),
    Mutant(
        name="new-as-worse",
        breaks="A comparison calls a new finding worse.",
        file=f"{ANALYSIS}/RunDiff/FindingChanges.swift",
        function="pair",
        original="isWorse ? .new : nil",
        mutated="isWorse ? .worse : nil",
    ),
    # Reports.
    Mutant(
        name="html-escape",
        breaks="A name in a page can end the page's script.",
        file=f"{ANALYSIS}/PageReports/ReportPage.swift",
        function="embedded",
        original=r"""json.replacing("&", with: "\\u0026").replacing("<", with: "\\u003c")""",
        mutated=r"""json.replacing("&", with: "\\u0026")""",
    ),
    Mutant(
        name="text-width",
        breaks="An indented line of a text report is wider than the terminal.",
        file=f"{ANALYSIS}/TextWriting/TextLayout.swift",
        function="row",
        original="indent + content.count <= style.width",
        mutated="content.count <= style.width",
    ),
    # Exports.
    Mutant(
        name="pprof-default",
        breaks="A pprof profile shows live blocks first instead of live bytes.",
        file=f"{ANALYSIS}/TraceExports/PprofProfile.swift",
        function="message",
        original="ProfileMeasure.liveBytes.sampleType",
        mutated="ProfileMeasure.liveBlocks.sampleType",
    ),
    Mutant(
        name="database-column",
        breaks="The database has the number of retained blocks in the column of retained bytes.",
        file=f"{ANALYSIS}/TraceDatabase/TraceTables.swift",
        function="writeFindings",
        context=".number(finding.retainedBytes.rawValue), .name(finding.evidence.retention?.holder)",
        original="finding.retainedBytes.rawValue",
        mutated="finding.retainedBlocks",
    ),
    # Growth from image to image.
    Mutant(
        name="watch-growth",
        breaks="Growth in a library's memory is a strong suspicion although its objects are unknown.",
        file=f"{ANALYSIS}/LeakDetection/Outline/SeriesGrowth.swift",
        function="judge",
        original="kept.isEmpty || kept[kept.count / 2] < rules.minKeptByLibrary",
        mutated="!kept.isEmpty && kept[kept.count / 2] < rules.minKeptByLibrary",
    ),
)
