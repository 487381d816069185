"""Compares the allocator's metadata with the recorder's blocks in programs that allocate all the time."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

from .allocator_metadata import Comparison, blocks
from .corpus import ROOT
from .processes import FailedCommand, environment, kill_session, must, run

BUILD = os.path.join(ROOT, ".build", "busy-programs")
WORKLOADS = os.path.join(ROOT, "Benchmarks", "workloads")
# Seconds until a program is busy; time limit in seconds for its start and its end.
SETTLING, PATIENCE = 3, 300
# Requests per second, seconds of warm-up, seconds of load, connections: see Benchmarks/server/Sources/pace.
LOAD = ("500", "1", "600", "32")
# Most seconds between an allocation and its event, on a busy machine.
RECORDING_SECONDS = 0.2


class Busy:
    """A program that allocates all the time. A server gets a load generator."""

    def __init__(self, name, arguments=(), is_server=False):
        self.name, self.arguments, self._is_server = name, arguments, is_server

    def build(self, jobs):
        if self._is_server:
            command = [
                "swift",
                "build",
                "--package-path",
                os.path.join(ROOT, "Benchmarks", "server"),
                "--jobs",
                str(jobs),
            ]
            build = os.path.join(ROOT, ".build", "benchmarks-server")
            command += ["--scratch-path", build, "--configuration", "release"]
            must(command, limit=7200)
            return os.path.join(must([*command, "--show-bin-path"]).strip().splitlines()[-1], self.name)
        path = os.path.join(BUILD, self.name)
        os.makedirs(BUILD, exist_ok=True)
        must(["swiftc", "-O", "-g", os.path.join(WORKLOADS, f"{self.name}.swift"), "-o", path], limit=1800)
        return path

    def compare(self, leaktrace, program, rounds):
        """Records the program and inspects it `rounds` times. Returns a comparison for each round."""
        with tempfile.TemporaryDirectory(prefix="leaktrace-busy-") as directory:
            trace = os.path.join(directory, "recorded.trace")
            output = os.path.join(directory, "output")
            inspections = [os.path.join(directory, f"{number}.inspection") for number in range(rounds)]
            with open(output, "wb") as file:
                command = [leaktrace.command, "record", "--quiet", "-o", trace, "--", program, *self.arguments]
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment(),
                    start_new_session=True,
                )
            load = None
            try:
                if self._is_server:
                    port = self._port(output)
                    load = subprocess.Popen([os.path.join(os.path.dirname(program), "pace"), port, *LOAD])
                time.sleep(SETTLING)
                process = child_of(child.pid, program)
                for inspection in inspections:
                    for asked in (["snapshot", process], ["inspect", process, "-o", inspection], ["snapshot", process]):
                        outcome = run([leaktrace.command, *asked])
                        if outcome.status != 0:
                            raise FailedCommand(f"{asked[0]} ended with {outcome.status}: {outcome.output[-300:]}")
                os.kill(int(process), signal.SIGTERM)
                child.wait(PATIENCE)
            finally:
                kill_session(child.pid)
                child.wait()
                if load:
                    load.kill()
                    load.wait()
            return [
                self._compare(leaktrace.command, trace, each, 2 * index + 1) for index, each in enumerate(inspections)
            ]

    def _compare(self, command, trace, inspection, first):
        found = Comparison(
            blocks(command, inspection), blocks(command, trace, first), blocks(command, trace, first + 1)
        )
        alone = found.alone
        if alone:
            found.excuse(_allocated(command, trace, first, alone))
        return found

    def _port(self, output):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with open(output, errors="replace") as file:
                said = re.search(r"^port (\d+)$", file.read(), re.MULTILINE)
            if said:
                return said[1]
            time.sleep(0.1)
        raise FailedCommand(f"{self.name} did not begin to listen")


def child_of(parent, program):
    """Returns the process that runs the program: `parent` or one of its children."""
    for candidate in [str(parent), *_children(parent)]:
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{candidate}/exe", program):
                return candidate
    raise FailedCommand(f"{program} has ended already")


def _children(parent):
    try:
        with open(f"/proc/{parent}/task/{parent}/children") as file:
            return file.read().split()
    except OSError:
        return []


def _allocated(command, trace, first, addresses):
    """Returns the addresses with an allocation event between two images of a trace."""
    listed = run([command, "dump", "--snapshots", "--all", trace])
    times = {
        int(number): float(seconds)
        for number, seconds in re.findall(r"snapshot number=(\d+) .*?time=([\d.]+)", listed.output)
    }
    begin, end = times[first] - RECORDING_SECONDS, times[first + 1] + RECORDING_SECONDS
    with tempfile.NamedTemporaryFile("w") as patterns:
        patterns.writelines(f"address={address} \n" for address in addresses)
        patterns.flush()
        asked = [
            "/bin/sh",
            "-c",
            '"$0" dump --events --all "$1" | grep -F -f "$2"',
            command,
            trace,
            patterns.name,
        ]
        outcome = run(asked, limit=3600)
    found = re.findall(r"time=([\d.]+) (?!free|realloc_free)\S+ address=(0x[0-9a-f]+) ", outcome.output)
    return {address for seconds, address in found if begin <= float(seconds) <= end}


SERVERS = Busy("shop-server", is_server=True)
BUSY = (
    SERVERS,
    Busy("threads", ("64", "10", "640000")),
    Busy("churn", ("16", "400")),
    Busy("json", ("2000", "200")),
)
