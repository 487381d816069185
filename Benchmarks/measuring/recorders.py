"""Ways of running a workload: untraced, traced by leaktrace, traced by heaptrack."""

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from .processes import FailedRun, run
from .records import Named


@dataclass
class Workload:
    name: str
    program: str
    arguments: list[str]
    output: str = ""  # of an untraced run

    @property
    def command(self) -> list[str]:
        return [self.program, *self.arguments]

    @property
    def title(self) -> str:
        return " ".join([self.name, *self.arguments])


@dataclass
class TraceFacts:
    """Properties of the file that a run left. All are None after an untraced run."""

    bytes: int | None = None
    events: int | None = None
    cut_stacks: Annotated[int | None, Named("cut stacks")] = None


class Way(ABC):
    """A way of running a workload."""

    name: str

    @abstractmethod
    def command(self, workload: Workload, directory: str) -> list[str]: ...

    @abstractmethod
    def facts(self, directory: str) -> TraceFacts:
        """Returns the facts of the last run. Raises FailedRun if its file is incomplete."""

    @abstractmethod
    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        """Returns the facts of the last run. Raises FailedRun if `output` differs from the untraced run's output."""


class Untraced(Way):
    name = "untraced"

    def command(self, workload: Workload, directory: str) -> list[str]:
        return workload.command

    def facts(self, directory: str) -> TraceFacts:
        return TraceFacts()

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        if workload.output == "":
            workload.output = output
        if output != workload.output:
            raise FailedRun(f"{workload.name}: printed {output!r} instead of {workload.output!r}")
        return TraceFacts()


class Leaktrace(Way):
    """`leaktrace record --arc retains`. Another command adds the names after the run, so they take none of its time."""

    def __init__(self, tool: str, retains: str) -> None:
        self.tool = tool
        self.retains = retains
        self.name = f"leaktrace --arc {retains}"

    def trace(self, directory: str) -> str:
        return os.path.join(directory, f"{self.retains}.trace")

    def command(self, workload: Workload, directory: str) -> list[str]:
        remove_trace(self.trace(directory))
        record = [self.tool, "record", "--no-names", "--arc", self.retains, "-o", self.trace(directory), "--"]
        return record + workload.command

    def add_names(self, directory: str) -> None:
        """Adds the names to the last run's trace, as `record` does without `--no-names`."""
        run([self.tool, "names", self.trace(directory)], directory)

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        if output != workload.output:
            raise FailedRun(f"{self.name}, {workload.name}: printed {output!r} instead of {workload.output!r}")
        return self.facts(directory)

    def facts(self, directory: str) -> TraceFacts:
        trace = self.trace(directory)
        chunks = run([self.tool, "dump", "--chunks", trace], directory).output
        pattern = r"^\d+ closing reason=(\w+) .*?\bevents=(\d+) .*\bdrops=([\d,]+)$"
        closing = re.search(pattern, chunks, re.MULTILINE)
        if not closing or closing[1] != "exit":
            raise FailedRun(f"{self.name}: the trace was not closed at exit")
        drops = [int(count) for count in closing[3].split(",")]
        # Indices are LT_DROP_ constants. The first three are lost events: NESTED, STOPPED and NO_MEMORY. The events of
        # STACK_TRUNCATED and STACK_INCOMPLETE were recorded.
        if any(drops[:3]):
            raise FailedRun(f"{self.name}: events were dropped: {closing[3]}")
        return TraceFacts(os.path.getsize(trace), int(closing[2]), drops[3] + drops[4])


class Heaptrack(Way):
    name = "heaptrack"
    _suffixes = (".zst", ".gz")

    def _files(self, directory: str) -> list[str]:
        paths = [os.path.join(directory, "heaptrack" + suffix) for suffix in self._suffixes]
        return [path for path in paths if os.path.exists(path)]

    def trace(self, directory: str) -> str:
        for path in self._files(directory):
            return path
        raise FailedRun("heaptrack wrote no file")

    def command(self, workload: Workload, directory: str) -> list[str]:
        for path in self._files(directory):
            os.unlink(path)
        return ["heaptrack", "-o", os.path.join(directory, "heaptrack"), *workload.command]

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        # heaptrack prints messages before and after the program's output.
        if workload.output.strip() not in (line.strip() for line in output.splitlines()):
            raise FailedRun(f"heaptrack, {workload.name}: the program's output is missing from {output!r}")
        return self.facts(directory)

    def facts(self, directory: str) -> TraceFacts:
        size = os.path.getsize(self.trace(directory))
        if size == 0:
            raise FailedRun("heaptrack: its file is empty")
        return TraceFacts(size)


def remove_trace(trace: str) -> None:
    for path in (trace, trace + ".live"):
        if os.path.exists(path):
            os.unlink(path)


def recorders(tool: str, settings: Iterable[str] = ("off", "counts", "stacks")) -> list[Way]:
    """Returns the ways to run a workload, in the order of a round. heaptrack is left out if it is not installed."""
    ways: list[Way] = [Untraced(), *(Leaktrace(tool, retains) for retains in settings)]
    if shutil.which("heaptrack"):
        ways.append(Heaptrack())
    return ways


def shown_command(way: str, program: str) -> str:
    """Returns the command line for the way with this name, for display."""
    if way.startswith("leaktrace --arc "):
        return f"leaktrace record --no-names --arc {way.removeprefix('leaktrace --arc ')} -o FILE -- {program}"
    return f"heaptrack -o FILE {program}" if way == "heaptrack" else program
