"""Visits a running program repeatedly: inspects it, or attaches, takes an image and detaches."""

import contextlib
import os
import re
import subprocess
import threading

from .processes import environment

INSPECTED, ATTACHED = "inspected", "attached"
FORMS = (INSPECTED, ATTACHED)
COMMAND_SECONDS = 120
# Messages of `inspect` after it has copied the process.
INSPECTIONS = re.compile(r"stood still|no Swift object is in the memory")
# A refusal must not affect the process. These messages mean that it did.
HARM = re.compile(r"ended by an error|takes too long|restart it")


def call(command):
    """Runs a leaktrace command. Returns its outcome with the output, or None if it does not end in time."""
    try:
        return subprocess.run(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


class Visitor:
    """Visits a process until it has ended. The program can choose another process for the visits: see `visit` in
    Tests/Programs/situations.h."""

    def __init__(self, leaktrace, form, process, directory, traces):
        self._leaktrace, self._form = leaktrace, form
        self._process, self._directory, self._traces = process, directory, traces
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.visits = self.images = 0
        self.refusals: dict[str, int] = {}
        self.failures: list[str] = []
        self._thread.start()

    def end(self):
        self._ended.set()
        self._thread.join(2 * COMMAND_SECONDS)

    def remark(self):
        """Returns a short text about the visits."""
        refusals = max(self.refusals, key=lambda each: self.refusals[each], default="")
        if self.visits:
            images = f", {self.images} images" if self._form == ATTACHED else ""
            return f"{'once' if self.visits == 1 else f'{self.visits} times'}{images}"
        return f"refused: {refusals}" if refusals else "never: it ended before"

    def _run(self):
        number = 0
        while not self._ended.wait(0.01):
            number += 1
            trace = os.path.join(self._traces, f"visit.{self._process}.{number}.trace")
            process = self._target()
            if self._form == INSPECTED:
                self._inspect(process, trace)
            else:
                self._record(process, trace)
            for path in (trace, trace + ".live"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def _target(self):
        try:
            with open(os.path.join(self._directory, "visit"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return str(self._process)

    def _inspect(self, process, trace):
        status, text = self._call("inspect", process, "--output", trace)
        if INSPECTIONS.search(text):
            self.visits += 1
        elif status != 0:
            self._refuse(text)

    def _record(self, process, trace):
        status, text = self._call("attach", process, "--output", trace, "--wait", "5")
        if status != 0:
            self._refuse(text)
            return
        self.visits += 1
        self.images += self._call("snapshot", process)[0] == 0
        self._call("detach", process)

    def _call(self, *arguments):
        done = call([self._leaktrace, *arguments])
        if done is None:
            self.failures.append(f"{arguments[0]} did not end in {COMMAND_SECONDS} s")
            return -1, ""
        text = done.stderr.decode(errors="replace")
        if done.returncode < 0:
            self.failures.append(f"{arguments[0]} ended by signal {-done.returncode}")
        return done.returncode, text

    def _refuse(self, text):
        line = next((line for line in text.splitlines() if line.strip()), "")
        line = re.sub(r"\b[0-9]{3,7}\b", "…", line.removeprefix("leaktrace: "))
        line = re.sub(r"/\S*/(\S)", r"…/\1", line)  # paths of this machine
        self.refusals[line] = self.refusals.get(line, 0) + 1
        if HARM.search(text):
            self.failures.append(f"the visitor says: {line}")
