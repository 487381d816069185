"""Reads traces of either processor on both processors. All reports of a trace must have the same bytes."""

import argparse
import concurrent.futures
import dataclasses
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable

from . import arm64, emulation
from .processes import FailedCommand, Outcome, must, run

RECORDING_SECONDS, READING_SECONDS = 1200, 900

# Cases with different kinds of findings and types. All kinds of their traces are read.
CASES_TO_READ = ("cycles", "closures", "enumerations", "structures", "tasks", "suspended", "threads", "generics")
QUERIES = ("SELECT * FROM type_totals ORDER BY type", "SELECT * FROM site_list ORDER BY id")
REPORT_FORMATS = ("json", "html", "markdown", "github", "sarif", "junit", "codequality")


@dataclasses.dataclass(frozen=True)
class Trace:
    path: str
    processor: str
    name: str
    # Options of the command that name the directories with the traced program's files.
    options: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Reader:
    """A command that reads traces, and the processor that it runs on."""

    processor: str
    command: tuple[str, ...]

    def run(self, arguments: list[str], directory: str | None = None) -> Outcome:
        return run([*self.command, *arguments], directory=directory, limit=READING_SECONDS)


@dataclasses.dataclass(frozen=True)
class Document:
    """One run of the command, and the files that it writes."""

    name: str
    arguments: Callable[[Trace, Trace], list[str]]
    files: tuple[str, ...] = ()
    unpack: Callable[[bytes], bytes] = bytes


def analysis(trace: Trace, _: Trace) -> list[str]:
    """All formats of a report, in one run. The text has all sites."""
    writes = [word for name in REPORT_FORMATS for word in ("--write", f"{name}=report.{name}")]
    return ["analyze", trace.path, *trace.options, "--sort", "total", "--limit", "0", "--source-root", "/", *writes]


def export(name: str, unpack: Callable[[bytes], bytes] = bytes) -> Document:
    def arguments(trace: Trace, _: Trace) -> list[str]:
        return ["export", trace.path, *trace.options, "--format", name, "-o", f"export.{name}"]

    return Document(f"export {name}", arguments, (f"export.{name}",), unpack=unpack)


DOCUMENTS = (
    Document("analyze", analysis, tuple(f"report.{name}" for name in REPORT_FORMATS)),
    Document("report", lambda trace, _: ["report", trace.path, *trace.options, "-o", "page.html"], ("page.html",)),
    Document("digest", lambda trace, _: ["digest", trace.path, *trace.options, "-o", "digest"], ("digest",)),
    Document("query of types", lambda trace, _: ["query", trace.path, *trace.options, QUERIES[0]]),
    Document("query of sites", lambda trace, _: ["query", trace.path, *trace.options, QUERIES[1]]),
    Document("dump", lambda trace, _: ["dump", "--chunks", trace.path]),
    Document("diff", lambda trace, other: ["diff", other.path, trace.path, *trace.options]),
    export("collapsed"),
    export("dot"),
    export("heapsnapshot"),
    export("ndjson"),
    # The two machines may pack the same bytes in different ways.
    export("pprof", gzip.decompress),
)


# Runs in the compiler's root, without environment variables of this machine. Compiles once, then makes a complete and a
# light recording of each case.
RECORD = """program=$1 source=$2 recorder=$3 directory=$4
shift 4
swiftc -use-ld=lld -Onone -g -parse-as-library -module-name cases "$source" -o "$program"
for case in "$@"; do
  for kind in usual light; do
    mode=full
    [ $kind = usual ] || mode=light
    LD_PRELOAD=$recorder LEAKTRACE_QUIET=1 LEAKTRACE_MODE=$mode LEAKTRACE_OUTPUT=$directory/$case.x86-64.$kind.trace \
      "$program" "$case"
  done
done
"""


def record_here(checkout: str, recorder: str, source: str, directory: str, cases: list[str]) -> list[Trace]:
    """Makes a complete and a light recording of each case on this machine.

    It uses the compiler that compiles for arm64. The compiler does not optimise, since demanglers of different Swift
    versions know different symbols of specialised functions.
    """
    compiler = emulation.compiler_root()
    program = os.path.join(directory, "x86-64", "cases")
    os.makedirs(os.path.dirname(program), exist_ok=True)
    scratch = os.path.join(checkout, ".build", "arm64", "cases-x86-64")
    inside = ["/bin/bash", "-euc", RECORD, "bash", program, source, recorder, directory, *cases]
    must([os.path.join(checkout, "scripts", "arm64-swift"), scratch, *inside], limit=RECORDING_SECONDS)
    files = ("--sysroot", compiler, "--debug-path", os.path.dirname(program))
    return [
        Trace(os.path.join(directory, f"{case}.x86-64.{kind}.trace"), "x86-64", f"{case}, {kind}", files)
        for case in cases
        for kind in ("usual", "light")
    ]


def without_nonce(page: bytes) -> bytes:
    """Removes the random nonce that each HTML page has for its scripts and styles."""
    found = re.search(rb"nonce-([0-9a-f]{32})", page)
    return page.replace(found[1], b"") if found else page


def read(reader: Reader, document: Document, trace: Trace, other: Trace) -> dict[str, bytes]:
    """Runs a command once. Returns its outputs by name. Raises FailedCommand if the command crashed."""
    with tempfile.TemporaryDirectory() as directory:
        return read_in(directory, reader, document, trace, other)


def read_in(directory: str, reader: Reader, document: Document, trace: Trace, other: Trace) -> dict[str, bytes]:
    outcome = reader.run(document.arguments(trace, other), directory)
    if outcome.timed_out or outcome.status < 0 or outcome.status >= 64:
        raise FailedCommand(
            f"{reader.processor}: {document.name} ended with status {outcome.status}: {outcome.output.strip()[-300:]}"
        )
    results = {"status": str(outcome.status).encode(), "text": outcome.output.encode()}
    for name in document.files:
        path = os.path.join(directory, name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                content = document.unpack(file.read())
            results[name] = without_nonce(content) if name.endswith(".html") else content
    return results


def difference(left: bytes, right: bytes) -> str:
    """Returns the first lines that differ, or both sizes."""
    for one, other in zip(left.splitlines(), right.splitlines(), strict=False):
        if one != other:
            place = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
            part = slice(max(0, place - 40), place + 80)
            return f"{one[part]!r}, and {other[part]!r}"
    return f"{len(left)} and {len(right)} bytes"


@dataclasses.dataclass
class Comparison:
    """The outcome for all documents of one trace."""

    outputs: int = 0
    size: int = 0  # bytes of the outputs of one reader
    complaints: list[str] = dataclasses.field(default_factory=list)


def compare_trace(readers: tuple[Reader, Reader], trace: Trace, other: Trace) -> Comparison:
    result = Comparison()
    for document in DOCUMENTS:
        subject = f"{document.name} of {trace.name} of {trace.processor}"
        try:
            left, right = (read(reader, document, trace, other) for reader in readers)
        except FailedCommand as failure:
            result.complaints.append(f"{subject}: {failure}")
            continue
        if left.keys() != right.keys():
            result.complaints.append(f"{subject}: {sorted(left.keys() ^ right.keys())} only on one processor")
        for name in sorted(left.keys() & right.keys()):
            result.outputs, result.size = result.outputs + 1, result.size + len(left[name])
            if left[name] != right[name]:
                text = difference(left[name], right[name])
                result.complaints.append(f"{subject}: {name} differs: {text}")
    return result


def compare(readers: tuple[Reader, Reader], traces: list[Trace], say: Callable[[str], None]) -> int:
    """Compares all documents of all traces. Prints each complaint, and returns their number."""

    def compared(trace: Trace) -> Comparison:
        # `diff` gets another trace of the same kind.
        kind = trace.name.split(", ")[1]
        others = [one for one in traces if one.processor == trace.processor and one.name.endswith(kind)]
        result = compare_trace(readers, trace, others[(others.index(trace) + 1) % len(others)])
        for text in result.complaints:
            say(text)
        return result

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compared, traces))
    outputs, size = sum(each.outputs for each in results), sum(each.size for each in results)
    say(f"{len(traces)} traces: {outputs:,} outputs with {size:,} bytes compared")
    return sum(len(each.complaints) for each in results)


def versions(readers: tuple[Reader, Reader]) -> list[str]:
    """Returns a complaint if the two commands have different versions."""
    outputs = [re.sub(r"\s+", " ", reader.run(["--version"]).output) for reader in readers]
    return [] if outputs[0] == outputs[1] else [f"the commands differ: {outputs}"]


def check(products: str | None, arm64_products: str | None, library: str, cases: list[str]) -> int:
    """Records the cases on both processors, and compares the reports. Returns the number of complaints."""
    root = emulation.root_directory()
    here = os.path.join(arm64.find_products(products), "leaktrace")
    there = os.path.join(arm64.find_products(arm64_products, arm64.ARM64_PRODUCTS), "leaktrace")
    directory = os.path.join(emulation.WORK, "readers")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    readers = (Reader("x86-64", (here,)), Reader("arm64", tuple(emulation.emulated(root, [there]))))
    complaints = versions(readers)
    # The commands may contain different demanglers, which know different symbols of specialised functions.
    optimisation = arm64.OPTIMISATIONS[1]
    arm64.build_programs(root, (optimisation,))
    recorder = os.path.join(os.path.dirname(here), "libleaktrace.so")
    traces = record_here(emulation.ROOT, recorder, arm64.SOURCE, directory, cases)
    places = [arm64.Place(directory, optimisation, case, 4) for case in cases]
    machine = emulation.Machine(root, os.path.join(emulation.WORK, "machine"))
    kinds = (arm64.USUAL, arm64.LIGHT)
    machine.run(emulation.fetch_kernel(root), arm64.add_places(machine, library, places, kinds), directory)
    # The program is not in the root.
    files = ("--sysroot", root, "--debug-path", os.path.dirname(arm64.program(optimisation)))
    for place in places:
        traces += [Trace(f"{place.stem(kind)}.trace", "arm64", f"{place.case}, {kind}", files) for kind in kinds]
    for text in complaints:
        emulation.say(text)
    return len(complaints) + compare(readers, traces, emulation.say)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --readers", description=__doc__)
    parser.add_argument("--case", action="append", choices=arm64.CASES, help="this case alone")
    parser.add_argument("--products", metavar="DIR", help="the directory of the leaktrace command for this machine")
    parser.add_argument("--arm64-products", metavar="DIR", help="the directory of the leaktrace command for arm64")
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        count = check(options.products, options.arm64_products, options.library, options.case or list(CASES_TO_READ))
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        emulation.say(str(failure))
        return 1
    emulation.say(f"complaints: {count}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
