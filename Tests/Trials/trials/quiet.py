"""Runs `leaktrace check -- swift test` on tests without leaks: an empty suite, a passing suite, and a few tests of
packages."""

import json
import os
import re
import shutil

from .leaktrace import Analysis
from .packages import Package, build
from .suites import counted_tests
from .trial import QUIET, Result

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Quiet", targets: [.target(name: "Quiet"), .testTarget(name: "QuietTests", dependencies: ["Quiet"])])
"""
LIBRARY = "public final class Counter {\n  public private(set) var count = 0\n  public init() {}\n  public func add() { count += 1 }\n}\n"
EMPTY = {
    "XCTest": "import XCTest\nfinal class EmptyTests: XCTestCase {}\n",
    "Swift Testing": "import Testing\n@Suite struct EmptyTests {}\n",
}
PASSING = {
    "XCTest": "import Quiet\nimport XCTest\nfinal class PassingTests: XCTestCase {\n  func testAdds() {\n    let counter = Counter()\n    counter.add()\n"
    "    XCTAssertEqual(counter.count, 1)\n  }\n}\n",
    "Swift Testing": "import Quiet\nimport Testing\n@Test func adds() async {\n  let counter = Counter()\n  counter.add()\n  #expect(counter.count == 1)\n}\n",
}


class OwnSuite:
    """A package with an empty suite, or with one passing test."""

    def __init__(self, name, sources, library, cache):
        self.name = f"{name} suite, {library}"
        self._sources, self._library = sources, library
        self._directory = os.path.join(cache, "quiet", self.name.replace(" ", "-").replace(",", ""))

    def trial(self, leaktrace, directory, jobs):
        files = {
            "Package.swift": MANIFEST,
            "Sources/Quiet/Quiet.swift": LIBRARY,
            "Tests/QuietTests/Tests.swift": self._sources[self._library],
        }
        for name, text in files.items():
            path = os.path.join(self._directory, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if _text(path) != text:
                with open(path, "w") as file:
                    file.write(text)
        build(self._directory, jobs, ("--build-tests",))
        return check(self.name, self._library, leaktrace, self._directory, directory, ["swift", "test", "--skip-build"])


class PassingTest:
    """A few tests of a public package that pass and leak nothing."""

    def __init__(self, package: Package, library, pattern):
        self.name = f"{package.name}, {pattern}"
        self._package, self._library, self._pattern = package, library, pattern

    def trial(self, leaktrace, directory, jobs):
        self._package.prepare(jobs)
        command = ["swift", "test", "--skip-build", "--filter", self._pattern]
        return check(self.name, self._library, leaktrace, self._package.directory, directory, command)


def check(name, library, leaktrace, package, directory, command):
    """Runs `leaktrace check`. Returns the result with its findings."""
    result = Result(name, QUIET, library)
    folder = os.path.join(directory, "check-" + re.sub(r"[^A-Za-z0-9]+", "-", name))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    report = os.path.join(folder, "report.json")
    outcome = leaktrace.check(command, directory=package, limit=900, options=["--format", "json", "--report", report])
    result.tests = counted_tests(library, outcome.output)
    findings = []
    try:
        with open(report) as file:
            reports = json.load(file)["reports"]
    except (OSError, ValueError, KeyError):
        reports = []
        result.fail(f"check wrote no report, status {outcome.status}: {outcome.output.strip()[-200:]}")
    for each in reports:
        analysis = Analysis(outcome, 0, each)
        result.blocks += analysis.allocated_blocks
        result.weak_suspicions += analysis.weak_suspicions
        findings += analysis.findings
    result.record_seconds = outcome.seconds
    if outcome.status != 0:
        result.remarks.append(f"`leaktrace check` ended with status {outcome.status}")
    result.judge(findings, "quiet")
    return result


def _text(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None
