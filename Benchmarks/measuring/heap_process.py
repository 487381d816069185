"""The workload with a large heap, which is talked to line by line while images are taken of it."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence

from .process_tree import children, executable, state
from .processes import FailedRun

WRITING = "0.25"  # seconds of each of the target's rounds of writing
PATIENCE = 150  # seconds until an image that is not done is given up


class HeapProcess:
    def __init__(self, command: Sequence[str], directory: str) -> None:
        self._command = " ".join(command)
        with open(os.path.join(directory, "errors.txt"), "wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=directory,
                text=True,
                bufsize=1,
            )
        self._program = 0

    def __enter__(self) -> "HeapProcess":
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def expect(self, word: str) -> list[str]:
        """The words after `word` on the next line."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        words = line.split()
        if not words or words[0] != word:
            raise FailedRun(f"{self._command}: printed {line!r} where {word} was expected")
        return words[1:]

    def ask(self, line: str, word: str) -> list[str]:
        if self._process.stdin:
            self._process.stdin.write(line + "\n")
        return self.expect(word)

    def find(self, program: str) -> int:
        """The workload's own process, which is the command's or a child of it."""
        for process in [self._process.pid, *children(self._process.pid)]:
            if executable(process) == os.path.realpath(program):
                self._program = process
                return process
        raise FailedRun(f"{self._command}: {program} is not running")

    def copies(self) -> list[int]:
        """Processes that write an image. One that has ended is there until the program asks for its status."""
        return [each for each in children(self._program) if state(each) not in ("Z", "X", "")]

    def wait_for_copies(self, idle: Callable[[], None]) -> None:
        """Calls `idle` until no image is being written."""
        deadline = time.monotonic() + PATIENCE
        while self.copies():
            if time.monotonic() > deadline:
                raise FailedRun(f"{self._command}: an image was not done after {PATIENCE} seconds")
            idle()

    def snapshot(self) -> float:
        """Seconds that the call took which takes an image."""
        return int(self.ask("snapshot", "snapshot")[1]) / 1e9

    def write(self) -> tuple[int, int]:
        """Writes to accounts for a while. How many it wrote to, and the nanoseconds that this took."""
        count, taken = self.ask("write " + WRITING, "written")
        return int(count), int(taken)

    def exit(self) -> float:
        """Seconds from the end of the workload's work until the command has ended."""
        begin = int(self.ask("exit", "exit")[0]) / 1e9
        status = self._process.wait()
        end = time.monotonic()
        if status != 0:
            raise FailedRun(f"{self._command}: exit status {status}")
        return end - begin
