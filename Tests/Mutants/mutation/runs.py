"""Runs the tests of a tree until their first failure."""

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from . import processes
from .sources import VARIABLE

# Contract with scripts/test: Swift Testing's lines, and lines of other checks.
_TEST = r'Test (?P<name>".*?"|[^\s"(]+\(.*?\))'
_FAILED_TEST = re.compile(rf"^✘ {_TEST} (?:recorded an issue|failed|with \d+ test cases? failed)")
# A test process that crashes or hangs has no failed test.
_FAILED_PROCESS = re.compile(r"^✘ Test process (?P<name>.+?)\.?(?: It said last:)?$")
_FAILED_CHECK = re.compile(r"^test: failed: (?P<name>.+)$")
_STARTED_TEST = re.compile(rf"^◇ {_TEST} started")
# Everything is built before one of these lines.
_BEGUN = re.compile(r"^(?:◇ (?:Test run|Suite|Test) |✘ Test |test: tests$)")


class Tier(Enum):
    FIRST = "first"
    SECOND = "second"

    @property
    def arguments(self) -> list[str]:
        return ["--tests-only"] if self is Tier.FIRST else ["--whole", "--tests-only"]


@dataclass(frozen=True)
class Outcome:
    failure: str
    """The test that failed first, or how the run ended; empty if all passed."""
    seconds: float
    has_begun: bool
    """Some test started, so that a failure is no failure to build."""


def failed_name(line: str) -> str | None:
    """The test or check that a line of output reports as failed."""
    found = _FAILED_TEST.match(line) or _FAILED_PROCESS.match(line) or _FAILED_CHECK.match(line)
    return found["name"].strip('"') if found else None


class Reading:
    """Takes the lines of a run, and knows its first failure."""

    def __init__(self) -> None:
        self.failure = ""
        self.has_begun = False
        self._last_started = ""

    def take(self, line: str) -> None:
        if _BEGUN.match(line):
            self.has_begun = True
        if started := _STARTED_TEST.match(line):
            self._last_started = started["name"].strip('"')
        if name := failed_name(line):
            self.failure, self.has_begun = name, True

    def end(self, status: int) -> None:
        """The run ended by itself."""
        if status == 0 or self.failure:
            return
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        self.failure = f"crash ({ended}) after the start of {self._last_started or 'no test'}"


def _lines(process: subprocess.Popen[bytes], deadline: float) -> Iterator[str | None]:
    """The lines of output as they come. The last one is None if the deadline passes."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                yield None
                return
            part = os.read(descriptor, 1 << 16)
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace")
            if not part:
                if rest:
                    yield rest.decode(errors="replace")
                return


def run(tree: str, tier: Tier, number: int | None, seconds: float, log: str, begin_only: bool = False) -> Outcome:
    """Runs a tier with the mutant of a number, or with none, and kills it at the first failure.

    `seconds`: a run that takes longer is a failure. `begin_only`: ends as soon as a test starts; everything is built
    then.
    """
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if number is not None:
        environment[VARIABLE] = str(number)
    # Tests that are killed leave their files here.
    scratch = environment["TMPDIR"] = tempfile.mkdtemp(prefix="mutant.", dir="/tmp")
    # Some tests run programs as another user.
    os.chmod(scratch, 0o755)
    begin = time.monotonic()
    reading = Reading()
    os.makedirs(os.path.dirname(log), exist_ok=True)
    try:
        with open(log, "w", encoding="utf-8") as output:
            process = subprocess.Popen(
                [os.path.join(tree, "scripts", "test"), *tier.arguments],
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            for line in _lines(process, begin + seconds):
                if line is None:
                    reading.failure = f"no end within {seconds / 60:.0f} minutes"
                    break
                output.write(line + "\n")
                reading.take(line)
                if reading.failure or (begin_only and reading.has_begun):
                    break
            else:
                reading.end(process.wait())
            elapsed = time.monotonic() - begin
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
    finally:
        processes.end_descendants()
        shutil.rmtree(scratch, ignore_errors=True)
    return Outcome(reading.failure, elapsed, reading.has_begun)
