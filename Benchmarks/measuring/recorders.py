"""The ways in which a workload is run: untraced, traced by leaktrace, traced by heaptrack."""

import os
import re
import shutil
from dataclasses import dataclass

from .processes import FailedRun, run


@dataclass
class Workload:
    name: str
    program: str
    arguments: list
    output: str = ""  # what it prints untraced

    @property
    def command(self):
        return [self.program] + self.arguments


class Untraced:
    name = "untraced"
    shown_command = "PROGRAM"

    def command(self, workload, directory):
        return workload.command

    def facts(self, directory):
        return {}

    def check(self, workload, output, directory):
        if workload.output == "":
            workload.output = output
        if output != workload.output:
            raise FailedRun(f"{workload.name}: printed {output!r} instead of {workload.output!r}")
        return {}


class Leaktrace:
    """`leaktrace record` with one of its settings for retains and releases."""

    def __init__(self, tool, retains):
        self.tool = tool
        self._retains = retains
        self.name = f"leaktrace --arc {retains}"
        self.shown_command = f"leaktrace record --arc {retains} -o FILE -- PROGRAM"

    def trace(self, directory):
        return os.path.join(directory, f"{self._retains}.trace")

    def command(self, workload, directory):
        for path in (self.trace(directory), self.trace(directory) + ".live"):
            if os.path.exists(path):
                os.unlink(path)
        return [self.tool, "record", "--arc", self._retains, "-o", self.trace(directory), "--"] + workload.command

    def check(self, workload, output, directory):
        if output != workload.output:
            raise FailedRun(f"{self.name}, {workload.name}: printed {output!r} instead of {workload.output!r}")
        return self.facts(directory)

    def facts(self, directory):
        """Size and events of the last trace; one that is not whole is a failure."""
        trace = self.trace(directory)
        chunks = run([self.tool, "dump", "--chunks", trace], directory).output
        closing = re.search(r"^\d+ closing reason=(\w+) .*?\bevents=(\d+) .*\bdrops=([\d,]+)$", chunks, re.MULTILINE)
        if not closing or closing[1] != "exit":
            raise FailedRun(f"{self.name}: the trace was not closed by an exit")
        drops = [int(count) for count in closing[3].split(",")]
        # By LT_DROP_ numbers: nested calls, after stopping, no memory. The others are events with less of a stack.
        if any(drops[:3]):
            raise FailedRun(f"{self.name}: events were dropped: {closing[3]}")
        return {"bytes": os.path.getsize(trace), "events": int(closing[2]), "cut stacks": drops[3] + drops[4]}


class Heaptrack:
    name = "heaptrack"
    shown_command = "heaptrack -o FILE PROGRAM"

    def trace(self, directory):
        for suffix in (".zst", ".gz"):
            path = os.path.join(directory, "heaptrack" + suffix)
            if os.path.exists(path):
                return path
        raise FailedRun("heaptrack wrote no file")

    def command(self, workload, directory):
        for suffix in (".zst", ".gz"):
            path = os.path.join(directory, "heaptrack" + suffix)
            if os.path.exists(path):
                os.unlink(path)
        return ["heaptrack", "-o", os.path.join(directory, "heaptrack")] + workload.command

    def check(self, workload, output, directory):
        # Its own remarks stand around the program's output.
        if workload.output.strip() not in (line.strip() for line in output.splitlines()):
            raise FailedRun(f"heaptrack, {workload.name}: the program's output is missing from {output!r}")
        return self.facts(directory)

    def facts(self, directory):
        size = os.path.getsize(self.trace(directory))
        if size == 0:
            raise FailedRun("heaptrack: its file is empty")
        return {"bytes": size}


def recorders(tool, settings=("off", "counts", "stacks")):
    """In the order in which they take turns."""
    ways = [Untraced()] + [Leaktrace(tool, retains) for retains in settings]
    if shutil.which("heaptrack"):
        ways.append(Heaptrack())
    return ways
