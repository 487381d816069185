"""Attaches to servers under load, takes a heap image, and detaches, repeatedly. Ends with 1 if a request fails, if a
server ends or reports a crash, or if anything of a recording remains. Ends with 2 if a server is not installed. Writes
docs/engineering/tables/servers.md."""

import argparse
import contextlib
import dataclasses
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from .clients import CLIENTS, client
from .documents import write_table
from .started_servers import SERVERS, NotInstalled
from .survival import end_session
from .visits import COMMAND_SECONDS, call

QUIET_SECONDS = 5  # seconds of load before the first cycle
PROCESSES = 4  # clients of each server
# Permitted growth of a process after all cycles: KiB of memory, for pages of the allocator and of the recorder's
# tables, and descriptors, for connections.
GROWTH = {"VmRSS": 40 << 10, "fd": 8}
RECORDER = "leaktrace"  # the name of the recorder's thread


def say(text):
    print(f"survival: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass
class Row:
    name: str
    cycles: int = 0
    refused: int = 0
    failures: int = 0
    quiet: list[float] = dataclasses.field(default_factory=list)
    busy: list[float] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)
    missing: str = ""

    def text(self):
        if self.missing:
            return f"| {self.name} | not run: {self.missing} | | | | | | |"
        verdict = "; ".join(sorted(set(self.problems))).replace("|", "\\|") or "none"
        return (
            f"| {self.name} | {self.cycles} | {self.refused} | {len(self.quiet) + len(self.busy):,} | {self.failures} | "
            f"{milliseconds(statistics.median, self.quiet)}, {milliseconds(statistics.median, self.busy)} | "
            f"{milliseconds(max, self.quiet)}, {milliseconds(max, self.busy)} | {verdict} |"
        )


def milliseconds(function, seconds):
    return f"{1000 * function(seconds):.1f} ms" if seconds else "none"


class Load:
    """Clients in separate processes, so that no client waits for another."""

    def __init__(self, kind, port):
        self._phase = multiprocessing.Value("i", 0)
        self._results: multiprocessing.Queue = multiprocessing.Queue()
        self._processes = [
            multiprocessing.Process(target=client, args=(kind, port, number, self._phase, self._results), daemon=True)
            for number in range(PROCESSES)
        ]
        for process in self._processes:
            process.start()

    def begin_cycles(self):
        self._phase.value = 1

    def end(self, row):
        self._phase.value = 2
        for _ in self._processes:
            try:
                quiet, busy, failures = self._results.get(timeout=COMMAND_SECONDS)
            except Exception:
                row.problems.append("a client does not end")
                continue
            row.quiet += quiet
            row.busy += busy
            row.failures += len(failures)
            row.problems += [f"a request failed: {each}" for each in failures[:3]]
        for process in self._processes:
            process.terminate()
            process.join()


def measure(process):
    with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
        resident = re.search(r"^VmRSS:\s+(\d+)", file.read(), re.M)
    return {"VmRSS": int(resident[1]) if resident else 0, "fd": len(os.listdir(f"/proc/{process}/fd"))}


def thread_names(process):
    names = []
    for thread in os.listdir(f"/proc/{process}/task"):
        with (
            contextlib.suppress(FileNotFoundError, ProcessLookupError),
            open(f"/proc/{process}/task/{thread}/comm", encoding="utf-8", errors="replace") as file,
        ):
            names.append(file.read().strip())
    return names


class Cycles:
    """Repeated recordings of one server."""

    def __init__(self, leaktrace, directory, row):
        self._leaktrace, self._directory, self._row = leaktrace, directory, row

    def run(self, server, count):
        deadline = time.monotonic() + 60 + 5 * count
        turn = 0
        while self._row.cycles < count and not self._row.problems:
            if time.monotonic() > deadline:
                self._row.problems.append("the cycles take too long")
                return
            targets = server.targets()
            self._cycle(targets[turn % len(targets)], turn)
            turn += 1

    def _cycle(self, process, turn):
        trace = os.path.join(self._directory, f"{turn}.trace")
        attached = self._call("attach", str(process), "--output", trace)
        if attached.returncode != 0:
            self._row.refused += 1
            if self._row.refused > 20 + self._row.cycles:
                self._row.problems.append(f"attach: {first_line(attached)}")
            return
        for command in ("snapshot", "detach"):
            done = self._call(command, str(process))
            # A server may end this process itself, as it does without a recording.
            if done.returncode != 0 and b"there is no process" not in done.stderr:
                self._row.problems.append(f"{command}: {first_line(done)}")
        self._row.cycles += 1
        for path in (trace, trace + ".live"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _call(self, *arguments):
        late = subprocess.CompletedProcess(arguments, -1, b"", b"it does not end")
        return call([self._leaktrace, *arguments]) or late


def first_line(done):
    lines = done.stderr.decode(errors="replace").splitlines() or [f"status {done.returncode}"]
    return lines[0].removeprefix("leaktrace: ")[:200]


def row_of(leaktrace, kind, cycles):
    row = Row(SERVERS[kind].title)
    with tempfile.TemporaryDirectory(prefix=f"survival-{kind}-", ignore_cleanup_errors=True) as directory:
        os.chmod(directory, 0o755)
        traces = os.path.join(directory, "traces")
        os.mkdir(traces)
        os.chmod(traces, 0o1777)
        try:
            server = SERVERS[kind](directory)
        except NotInstalled as missing:
            row.missing = str(missing)
            return row
        try:
            load = Load(kind, server.port)
            time.sleep(QUIET_SECONDS)
            watched = server.lasting()
            before = {process: measure(process) for process in watched}
            load.begin_cycles()
            Cycles(leaktrace, traces, row).run(server, cycles)
            if server.lasting() != watched:
                row.problems.append("a process of the server ended")
            for process in set(watched) & set(server.lasting()):
                after = measure(process)
                row.problems += [
                    f"{name} grew from {before[process][name]} to {after[name]}"
                    for name, most in GROWTH.items()
                    if after[name] - before[process][name] > most
                ]
                if RECORDER in thread_names(process):
                    row.problems.append("a thread of the recorder is left")
            load.end(row)
            row.problems += server.end()
        finally:
            end_session(server.process.pid)
            server.kill()
    return row


def main():
    parser = argparse.ArgumentParser(prog="scripts/survival --servers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="SERVER", help=f"only these: {', '.join(SERVERS)}")
    parser.add_argument("--servers", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cycles", type=int, default=200, help="recordings of each server (default: 200)")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.names) - set(SERVERS)
    if unknown or set(SERVERS) != set(CLIENTS):
        sys.exit(f"survival: no such server: {', '.join(sorted(unknown))}")
    leaktrace = os.path.join(os.path.abspath(options.products), "leaktrace")
    rows = []
    for kind in options.names or SERVERS:
        rows.append(row_of(leaktrace, kind, options.cycles))
        say(rows[-1].text())
    if not options.names:
        write_table(
            "servers",
            "Survival: servers under load",
            "Written by `scripts/survival --servers`. [Survival](../survival.md#servers-under-load) explains the columns.",
            [
                "| Server | Cycles | Refused | Requests | Failed | Median without, with | Slowest without, with | Problems |",
                "|---|--:|--:|--:|--:|---|---|---|",
                *(row.text() for row in rows),
            ],
        )
    failing = [row for row in rows if row.problems or row.failures]
    missing = [row for row in rows if row.missing]
    say(f"{sum(row.cycles for row in rows)} cycles, {len(failing)} servers failed, {len(missing)} not run")
    sys.exit(1 if failing else 2 if missing else 0)


if __name__ == "__main__":
    main()
