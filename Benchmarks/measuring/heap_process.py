"""A workload process that executes commands from its input, such as taking a heap image."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence

from .process_tree import children, executable, state
from .processes import FailedRun

WRITE_SECONDS = "0.25"  # duration of one `write` command
TIMEOUT = 150  # seconds for an image


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
        """Reads a line that starts with `word`, and returns the words after it."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        words = line.split()
        if not words or words[0] != word:
            raise FailedRun(f"{self._command}: printed {line!r} instead of {word}")
        return words[1:]

    def ask(self, line: str, word: str) -> list[str]:
        if self._process.stdin:
            self._process.stdin.write(line + "\n")
        return self.expect(word)

    def find(self, program: str) -> int:
        """Returns the process of the workload: the command's process or a child of it."""
        for process in [self._process.pid, *children(self._process.pid)]:
            if executable(process) == os.path.realpath(program):
                self._program = process
                return process
        raise FailedRun(f"{self._command}: {program} is not running")

    def copies(self) -> list[int]:
        """Returns the processes that write an image. Exited ones that the program did not reap are left out."""
        return [each for each in children(self._program) if state(each) not in ("Z", "X", "")]

    def wait_for_copies(self, idle: Callable[[], None]) -> None:
        """Calls `idle` repeatedly until no image is being written."""
        deadline = time.monotonic() + TIMEOUT
        while self.copies():
            if time.monotonic() > deadline:
                raise FailedRun(f"{self._command}: an image took more than {TIMEOUT} seconds")
            idle()

    def snapshot(self) -> float:
        """Takes an image. Returns the seconds of the call."""
        return int(self.ask("snapshot", "snapshot")[1]) / 1e9

    def write(self) -> tuple[int, int]:
        """Writes to accounts for `WRITE_SECONDS`. Returns the number of writes, and nanoseconds."""
        count, taken = self.ask("write " + WRITE_SECONDS, "written")
        return int(count), int(taken)

    def exit(self) -> float:
        """Ends the workload. Returns the seconds from the end of its work to the exit of the command."""
        begin = int(self.ask("exit", "exit")[0]) / 1e9
        status = self._process.wait()
        end = time.monotonic()
        if status != 0:
            raise FailedRun(f"{self._command}: exit status {status}")
        return end - begin
