"""Runs commands with a time limit, and measures them."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import tempfile
import threading
import time

# Prefixes of variables that a command must not inherit: other recorders, and coverage of the running tests.
DROPPED_VARIABLES = ("LD_PRELOAD", "LEAKTRACE_", "LLVM_PROFILE_FILE")


class FailedCommand(Exception):
    """A command failed that must succeed."""


@dataclasses.dataclass
class Outcome:
    """The outcome of a command."""

    status: int  # -N for signal N, as in subprocess
    output: str  # standard output and standard error, interleaved
    seconds: float
    peak_bytes: int  # the largest resident size of the command's own process
    timed_out: bool


def environment(extra=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED_VARIABLES)}
    return {**kept, **(extra or {})}


def run(command, directory=None, limit=600, extra_environment=None, standard_input=None):
    """Runs `command` in its own session. Kills the session after `limit` seconds."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as given:
        if standard_input is not None:
            given.write(standard_input)
            given.seek(0)
        begin = time.monotonic()
        child = subprocess.Popen(
            command,
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=environment(extra_environment),
            start_new_session=True,
        )
        timed_out = threading.Event()

        def give_up():
            timed_out.set()
            kill_session(child.pid)

        timer = threading.Timer(limit, give_up)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            kill_session(child.pid)
            raise
        finally:
            timer.cancel()
        seconds = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Outcome(child.returncode, text, seconds, usage.ru_maxrss * 1024, timed_out.is_set())


def must(command, **options):
    """Runs a command and returns its output. Raises FailedCommand if it fails."""
    outcome = run(command, **options)
    if outcome.status != 0:
        ended = "did not end in time" if outcome.timed_out else f"status {outcome.status}"
        raise FailedCommand(f"{' '.join(command[:8])}: {ended}\n{outcome.output[-3000:]}")
    return outcome.output


def kill_session(leader):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
