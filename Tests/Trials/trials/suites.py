"""Tries the test suites of packages. All tests run in one process for each testing library, as in `swift test`."""

import os
import re

from .packages import Package
from .trial import SUITE, Result

LIBRARIES = {"XCTest": [], "Swift Testing": ["--testing-library", "swift-testing"]}
NO_TESTS = 69  # Swift Testing's status if a bundle has no tests for it
ATTEMPTS = 5


class Suite:
    """A package's tests."""

    def __init__(self, values, cache):
        self.package = Package(values["url"], values["version"], cache, tuple(values.get("flags", ())))
        self.name = self.package.name
        self.limit = values.get("seconds", 3600)
        self.skipped = values.get("skip", [])  # patterns of Swift Testing's tests
        self.selected = values.get("only", [])  # classes of XCTest's tests
        self.environment = values.get("environment", {})
        self.remark = values.get("remark")

    def trial(self, leaktrace, directory, jobs):
        self.package.prepare(jobs)
        bundle = self.package.test_bundle()
        result = Result(self.name, SUITE, self.package.version)
        if self.remark:
            result.remarks.append(self.remark)
        findings = []
        for library, options in LIBRARIES.items():
            trace = os.path.join(directory, f"{self.name}-{library.replace(' ', '-')}.trace")
            command = [bundle, *options, *self._selection(library)]
            recording = self._record(leaktrace, command, trace, library, result)
            tests = counted_tests(library, recording.output)
            if tests == 0 and (library == "XCTest" or recording.status in (0, NO_TESTS)):
                continue
            result.tests += tests
            if recording.timed_out:
                result.fail(f"{library}: did not end within {self.limit} s")
                continue
            if recording.status != 0:
                failures = ", ".join(failed_tests(library, recording.output)[:4])
                result.remarks.append(
                    f"{library}: ended with status {recording.status}" + (f"; failed: {failures}" if failures else "")
                )
            findings += result.add(recording, leaktrace.analyze(trace))
        result.judge(findings)
        return result

    def _record(self, leaktrace, command, trace, library, result):
        """Records the suite. Tries again if the suite crashes, since a crash leaves no heap image."""
        for attempt in range(ATTEMPTS):
            recording = leaktrace.record(
                command, trace, directory=self.package.directory, limit=self.limit, extra_environment=self.environment
            )
            if recording.timed_out or not _has_crashed(recording.status):
                break
            said = re.search(r"Fatal error: .*", recording.output)
            result.remarks.append(f"{library}: crashed in run {attempt + 1}" + (f": {said[0].strip()}" if said else ""))
        return recording

    def _selection(self, library):
        """Options that leave out tests that cannot run here or take too long. XCTest can only select, and Swift
        Testing can only skip."""
        if library == "XCTest":
            return [",".join(self.selected)] if self.selected else []
        return [word for pattern in self.skipped for word in ("--skip", pattern)]


def _has_crashed(status):
    """Returns whether a signal ended the process. Shells and `leaktrace record` report signal N as 128 + N."""
    return status < 0 or status > 128


def counted_tests(library, output):
    """Returns the number of tests that ran."""
    # Remove the codes for colours, which separate the words.
    text = re.sub(r"\x1b\[[0-9;]*m", "", output)
    if library == "XCTest":
        counts = re.findall(r"Executed (\d+) tests?", text)
        # The last line has the total of all suites.
        return int(counts[-1]) if counts else 0
    counts = re.findall(r"Test run with (\d+) tests?", text)
    return int(counts[-1]) if counts else 0


def failed_tests(library, output):
    text = re.sub(r"\x1b\[[0-9;]*m", "", output)
    pattern = r"Test Case '([^']+)' failed" if library == "XCTest" else r"Test (\S+\(.*?\)|\"[^\"]+\") failed"
    return sorted(set(re.findall(pattern, text)))
