"""Tries the toolchain's programs on a small package."""

import collections
import glob
import json
import os
import shutil

from .accuracy_report import NAMES
from .finding import Finding
from .leaktrace import Leaktrace
from .processes import must
from .trial import TOOLCHAIN, Result

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Tiny", targets: [.target(name: "Core"), .executableTarget(name: "tiny", dependencies: ["Core"])])
"""
LIBRARY = """/// A queue of work, the oldest first.
public struct WorkQueue<Element> {
  private var items: [Element] = []
  public init() {}
  public mutating func add(_ item: Element) { items.append(item) }
  public mutating func next() -> Element? { items.isEmpty ? nil : items.removeFirst() }
}
"""
PROGRAM = "import Core\nvar queue = WorkQueue<Int>()\nfor number in 0..<9 { queue.add(number) }\nwhile let number = queue.next() { print(number) }\n"
ARTICLE = "# ``Core``\n\nA summary.\n\n## Overview\n\nSee <doc:First>.\n"
MORE = "# First\n\nAn article.\n\n- term A: text\n- term B: text\n"


def _package(directory):
    shutil.rmtree(directory, ignore_errors=True)
    files = {
        "Package.swift": MANIFEST,
        "Sources/Core/Core.swift": LIBRARY,
        "Sources/tiny/main.swift": PROGRAM,
        "Core.docc/Core.md": ARTICLE,
        "Core.docc/First.md": MORE,
    }
    for name, text in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)


def _message(values):
    body = json.dumps({"jsonrpc": "2.0", **values}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _conversation(package):
    """Returns an editor's messages to the language server: open a file, ask for its symbols, shut down."""
    uri = f"file://{package}/Sources/Core/Core.swift"
    root = f"file://{package}"
    return b"".join(
        map(
            _message,
            [
                {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": root, "capabilities": {}}},
                {"method": "initialized", "params": {}},
                {
                    "method": "textDocument/didOpen",
                    "params": {"textDocument": {"uri": uri, "languageId": "swift", "version": 1, "text": LIBRARY}},
                },
                {"id": 2, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": uri}}},
                {"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}},
                {"id": 3, "method": "shutdown"},
                {"method": "exit"},
            ],
        )
    )


class Tool:
    """One command of the toolchain. `follows`: record child processes, too. `talks`: the command is a language server.
    `rounds`: number of runs, more for programs with many threads."""

    def __init__(self, name, command, follows=False, talks=False, rounds=1):
        self.name, self._command, self._follows, self._talks, self._rounds = name, command, follows, talks, rounds

    def trial(self, leaktrace: Leaktrace, directory, jobs):
        del jobs
        package = os.path.join(directory, "tiny-package")
        _package(package)
        if self._talks:
            must(["swift", "build", "--package-path", package, "--jobs", "1"], limit=900)
        result = Result(self.name, TOOLCHAIN, " ".join(self._command))
        stem = os.path.join(directory, self.name.replace(" ", "-"))
        findings: list[Finding] = []
        runs: collections.Counter[tuple[str, str]] = collections.Counter()
        for number in range(self._rounds):
            found = self._round(leaktrace, package, f"{stem}-{number}", result)
            kinds = {(each.verdict, each.subject): each for each in found if not each.is_library}
            runs.update(list(kinds))
            findings += found if number == 0 else [each for kind, each in kinds.items() if runs[kind] == 1]
        result.remarks += [
            f"{NAMES.get(verdict, verdict)} `{subject}`: in {count} of {self._rounds} runs"
            for (verdict, subject), count in runs.items()
            if count < self._rounds
        ]
        result.judge(findings, "toolchain")
        return result

    def _round(self, leaktrace, package, stem, result):
        pattern = stem + (".%n.%p.trace" if self._follows else ".trace")
        if not leaktrace.is_kept(pattern):
            for old in glob.glob(f"{stem}.*trace*"):
                os.remove(old)
        recording = leaktrace.record(
            self._command,
            pattern,
            directory=package,
            limit=900,
            options=["--follow-children"] if self._follows else [],
            standard_input=_conversation(package) if self._talks else None,
        )
        if recording.status != 0:
            result.remarks.append(f"ended with status {recording.status}")
        findings: list[Finding] = []
        for trace in sorted(glob.glob(f"{stem}.*trace")):
            analysis = leaktrace.analyze(trace)
            # A process that ends in exec, such as a shell, leaves no image to judge.
            if self._follows and analysis.report is not None and analysis.report.get("findings") is None:
                continue
            findings += result.add(recording, analysis)
            # Count the run's seconds only once.
            recording = _Nothing
        return findings


class _Nothing:
    seconds = 0.0
    is_by_another_version = False


def all_tools():
    return [
        Tool("swift-format format", ["swift-format", "format", "Sources/Core/Core.swift"]),
        Tool("swift-format lint", ["swift-format", "lint", "Sources/Core/Core.swift"]),
        Tool(
            "docc convert",
            [
                "docc",
                "convert",
                "Core.docc",
                "--fallback-display-name",
                "Core",
                "--fallback-bundle-identifier",
                "org.example.core",
                "--output-path",
                "documentation",
            ],
        ),
        Tool("swift build", ["swift", "build", "--jobs", "1"], follows=True),
        Tool("sourcekit-lsp", ["sourcekit-lsp"], talks=True, rounds=5),
    ]
