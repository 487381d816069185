"""Runs and measures one command. Raises an error if it fails."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .machine import ProcessorUse


class FailedRun(Exception):
    """A command failed or had an unexpected result. It must not give figures."""


@dataclass
class Run:
    wall: float  # seconds
    processor: float  # user and system seconds of the command and of the children that it waited for
    peak: int  # bytes: the largest resident size of any single process of the command
    others: float  # processors that other processes kept busy during the run, on average
    output: str


def run(command: Sequence[str], directory: str, environment: Mapping[str, str] | None = None) -> Run:
    """Runs `command` until it exits. Raises FailedRun unless its exit status is 0."""
    output_path = os.path.join(directory, "output.txt")
    errors_path = os.path.join(directory, "errors.txt")
    with open(output_path, "wb") as output, open(errors_path, "wb") as errors:
        use = ProcessorUse()
        begin = time.perf_counter()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=directory, env=environment
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        processor = usage.ru_utime + usage.ru_stime
        others = use.others(processor, wall)
    with open(output_path, errors="replace") as file:
        text = file.read()
    if child.returncode != 0:
        with open(errors_path, errors="replace") as file:
            tail = file.read()[-2000:]
        raise FailedRun(f"{' '.join(command)}: exit status {child.returncode}\n{tail}")
    return Run(wall, processor, usage.ru_maxrss * 1024, others, text)


@dataclass
class Memory:
    program: int  # bytes: largest resident size of the measured program itself
    # bytes: largest resident size of the command and all its descendants together; each counts the pages that it shares
    all: int


class _Watcher(threading.Thread):
    """Samples the memory of a process and its descendants every few milliseconds.

    The kernel keeps the highest resident size of each process. Only the sum over all processes depends on the samples.
    """

    def __init__(self, root: int, program: str) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._program = os.path.realpath(program)
        self._ended = threading.Event()
        self.memory = Memory(0, 0)

    def run(self) -> None:
        while not self._ended.wait(0.004):
            self._sample()

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _sample(self) -> None:
        pending, resident = [str(self._root)], 0
        while pending:
            process = pending.pop()
            try:
                with open(f"/proc/{process}/status") as file:
                    fields = dict(line.split(":", 1) for line in file)
                size = int(fields["VmRSS"].split()[0]) * 1024
                resident += size
                if os.readlink(f"/proc/{process}/exe") == self._program:
                    self.memory.program = max(self.memory.program, int(fields["VmHWM"].split()[0]) * 1024)
                for thread in os.listdir(f"/proc/{process}/task"):
                    with open(f"/proc/{process}/task/{thread}/children") as file:
                        pending += file.read().split()
            except (OSError, KeyError, ValueError):
                continue  # the process has exited
        self.memory.all = max(self.memory.all, resident)


def memory_of(command: Sequence[str], directory: str, program: str) -> Memory:
    """Runs `command` and measures its memory. Sampling takes time, so this run is not used for times."""
    with open(os.path.join(directory, "output.txt"), "wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=directory
        )
        watcher = _Watcher(child.pid, program)
        watcher.start()
        status = child.wait()
        watcher.end()
    if status != 0:
        raise FailedRun(f"{' '.join(command)}: exit status {status}")
    if watcher.memory.program == 0:
        raise FailedRun(f"{' '.join(command)}: {program} was not seen running")
    return watcher.memory
