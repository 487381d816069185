"""Runs programs that wait at their end, so that they can be inspected there. held_end.c makes them wait."""

import contextlib
import os
import shutil
import subprocess
import time

from .corpus import TRIALS
from .processes import FailedCommand, environment, kill_session, must

SOURCE = os.path.join(TRIALS, "held_end.c")
# Time limit in seconds, until the program waits and from there to its end.
WAIT_SECONDS = 600


def build_holder(directory):
    """Compiles the library that makes programs wait. Returns its path."""
    path = os.path.join(directory, "held_end.so")
    beside_swift = os.path.join(os.path.dirname(os.path.realpath(shutil.which("swift") or "/")), "clang")
    compiler = os.environ.get("CC") or (beside_swift if os.path.exists(beside_swift) else "clang")
    must([compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", SOURCE, "-o", path])
    return path


class HeldProgram:
    """A program that waits at its end inside a `with` block. `recorder`: the command line that records it, if any."""

    def __init__(self, holder, directory, command, recorder=()):
        self._command, self._recorder = command, recorder
        self._place = os.path.join(directory, "held")
        self._output = os.path.join(directory, "output")
        self._environment = environment(
            {"LD_PRELOAD": holder, "HELD_PROGRAM": command[0], "HELD_END": self._place, "LANG": "C.UTF-8"}
        )

    def __enter__(self):
        """Returns the process ID when the program waits. Raises FailedCommand if it ends earlier."""
        with open(self._output, "wb") as output:
            self._child = subprocess.Popen(
                [*self._recorder, *self._command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        end = time.monotonic() + WAIT_SECONDS
        while not os.path.exists(self._place):
            if self._child.poll() is not None:
                raise FailedCommand(f"ended with status {self._child.returncode} before it waited: {self._said()}")
            if time.monotonic() > end:
                self._end()
                raise FailedCommand("did not come to its end in time")
            time.sleep(0.02)
        with open(self._place) as file:
            return int(file.read())

    def __exit__(self, *_):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._place)
        try:
            self._child.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._end()
            raise FailedCommand("did not end in time") from None

    @property
    def status(self):
        return self._child.returncode

    def _said(self):
        with open(self._output, errors="replace") as file:
            return file.read().strip()[-200:]

    def _end(self):
        kill_session(self._child.pid)
        self._child.wait()
