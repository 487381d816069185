"""Latencies of a server at a fixed rate of requests, untraced and traced."""

import os
import re
import resource
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from ..figures import grouped, table
from ..machine import ProcessorUse
from ..part import BENCHMARKS, REPOSITORY, About, Bench, Figure, SummarisedPart
from ..process_tree import descendants, executable
from ..processes import FailedRun
from ..recorders import TraceFacts, Way, Workload
from ..records import Mark, Named
from ..rounds import say

RATE = 1000  # requests a second
CONNECTIONS = 32
WARMUP, SECONDS = 3, 20
QUICK_WARMUP, QUICK_SECONDS = 1, 3
TIMEOUT = 60  # seconds for the server to start, and to end


@dataclass
class ServerRound:
    others: list[float]
    requests: int
    # Latencies in microseconds.
    p50: float
    p99: float
    p99_9: Annotated[float, Named("p99.9")]
    largest: float
    processor: float  # seconds of the command and its child processes
    facts: Annotated[TraceFacts, Mark.INLINED]


PERCENTILES: dict[str, Callable[[ServerRound], float]] = {
    "p50": lambda each: each.p50,
    "p99": lambda each: each.p99,
    "p99.9": lambda each: each.p99_9,
    "largest": lambda each: each.largest,
}


@dataclass
class ServerResult:
    rate: int
    connections: int
    seconds: int
    ways: dict[str, list[ServerRound]]
    failures: dict[str, str]

    def median(self, way: str, percentile: str) -> float:
        return statistics.median(PERCENTILES[percentile](each) for each in self.ways[way])

    def ratio(self, way: str, percentile: str) -> float | None:
        """Latency relative to the untraced run of the same round: the median over all rounds.

        None if `way` was not measured.
        """
        if way not in self.ways:
            return None
        of = PERCENTILES[percentile]
        return statistics.median(
            of(each) / of(untraced) for each, untraced in zip(self.ways[way], self.ways["untraced"], strict=False)
        )


class Server(SummarisedPart[ServerResult]):
    name = "server"
    heading = "# A server under load"
    result = ServerResult

    def measure(self, bench: Bench) -> ServerResult:
        return measure_server(bench, bench.ways(), min(bench.rounds, 5))

    def markdown(self, result: ServerResult, about: About) -> str:
        parts = [
            self.heading,
            about.line(),
            f"`server/Sources/pace` sends {result.rate:,} requests a second to `server/Sources/shop-server`, which "
            f"uses hummingbird, over {result.connections} connections. Every second request has a JSON body. Both "
            "programs run on the same machine. The rate does not depend on the server's responses. A latency counts "
            "from the time when the request was due, so it includes the delay by a pause. A round takes "
            f"{result.seconds} s after its warm-up. Latencies are in milliseconds. *Processor* is the processor time "
            "of the server and of the tool's own processes in seconds, from start to exit.",
            latencies_table(result),
        ]
        parts += [f"{way} failed: {reason}" for way, reason in result.failures.items()]
        return "\n\n".join(parts)

    def figures(self, result: ServerResult) -> Iterable[Figure]:
        for name in ("p50", "p99", "p99.9"):
            base = f"relative to the untraced {result.median('untraced', name) / 1000:.2f} ms"
            for retains in ("off", "stacks"):
                yield Figure(
                    f"{result.rate:,} requests/s: {name}, `--arc {retains}`, {base}",
                    result.ratio(f"leaktrace --arc {retains}", name),
                    result.ratio("heaptrack", name),
                    " ×",
                )


def measure_server(bench: Bench, ways: list[Way], rounds: int) -> ServerResult:
    """Measures all ways of running the server in turn, with the same load.

    A failure of heaptrack becomes a part of the result. Raises FailedRun if another way fails.
    """
    products = _build()
    workload = Workload("shop-server", os.path.join(products, "shop-server"), [])
    warmup, seconds = (QUICK_WARMUP, QUICK_SECONDS) if bench.is_quick else (WARMUP, SECONDS)
    load = [os.path.join(products, "pace"), "PORT", str(RATE), str(warmup), str(seconds), str(CONNECTIONS)]
    found: dict[str, list[ServerRound]] = {way.name: [] for way in ways}
    failures: dict[str, str] = {}
    for number in range(rounds):
        for way in ways:
            if way.name in failures:
                continue
            say(f"server, {way.name}, round {number + 1} of {rounds}")
            try:
                found[way.name].append(_round(way, workload, load, bench.directory))
            except FailedRun as failure:
                if way.name != "heaptrack":
                    raise
                failures[way.name] = str(failure).splitlines()[0]
    measured = {name: each for name, each in found.items() if each}
    return ServerResult(RATE, CONNECTIONS, seconds, measured, failures)


def latencies_table(result: ServerResult) -> str:
    rows = []
    for way, rounds in result.ways.items():
        row = [way]
        for percentile in PERCENTILES.values():
            values = [percentile(each) / 1000 for each in rounds]
            row.append(f"{statistics.median(values):.2f} ({min(values):.2f}…{max(values):.2f})")
        row.append(f"{statistics.median(each.processor for each in rounds):.1f}")
        events = [each.facts.events for each in rounds if each.facts.events is not None]
        row.append(grouped(round(statistics.median(events))) if events else "")
        rows.append(row)
    return table(["", "p50", "p99", "p99.9", "largest", "processor", "events"], rows)


def _build() -> str:
    """Builds the server and the load generator. Returns the directory of the products."""
    package = ["--package-path", os.path.join(BENCHMARKS, "server")]
    scratch = ["--scratch-path", os.path.join(REPOSITORY, ".build", "benchmarks-server")]
    command = ["swift", "build", "-c", "release", *package, *scratch]
    say("compiling the server")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def _round(way: Way, workload: Workload, load: list[str], directory: str) -> ServerRound:
    output = os.path.join(directory, "server.txt")
    use, begin, before = ProcessorUse(), time.monotonic(), _processor_of_children()
    with open(output, "wb") as printed, open(os.path.join(directory, "errors.txt"), "wb") as errors:
        command = subprocess.Popen(
            way.command(workload, directory), stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, cwd=directory
        )
    ended = False
    try:
        port = _wait_for(lambda: _port(output), command, "begin")
        server = _wait_for(lambda: _find(command.pid, workload.program), command, "run")
        arguments = [port if word == "PORT" else word for word in load]
        result = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise FailedRun(f"{way.name}, server: not every request was answered: {result.stderr}")
        os.kill(server, signal.SIGTERM)
        deadline = time.monotonic() + TIMEOUT
        while not ended:
            process, status, usage = os.wait4(command.pid, os.WNOHANG)
            ended = process != 0
            if not ended and time.monotonic() > deadline:
                raise FailedRun(f"{way.name}, server: did not end within {TIMEOUT} seconds of SIGTERM")
            time.sleep(0.01)
        command.returncode = os.waitstatus_to_exitcode(status)
        if command.returncode != 0:
            raise FailedRun(f"{way.name}, server: exit status {command.returncode}")
    finally:
        if command.poll() is None:
            for process in descendants(command.pid):
                os.kill(process, signal.SIGKILL)
            command.wait()
    others = use.others(_processor_of_children() - before, time.monotonic() - begin)
    requests, p50, p99, p99_9, largest = result.stdout.split()[: 1 + len(PERCENTILES)]
    return ServerRound(
        others=[others],
        requests=int(requests),
        p50=float(p50),
        p99=float(p99),
        p99_9=float(p99_9),
        largest=float(largest),
        processor=usage.ru_utime + usage.ru_stime,
        facts=way.facts(directory),
    )


def _processor_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _port(path: str) -> str | None:
    with open(path, errors="replace") as file:
        found = re.search(r"^port (\d+)$", file.read(), re.MULTILINE)
    return found[1] if found else None


def _find(process: int, program: str) -> int | None:
    return next((each for each in descendants(process) if executable(each) == os.path.realpath(program)), None)


Found = TypeVar("Found")


def _wait_for(look: Callable[[], Found | None], command: "subprocess.Popen[bytes]", what: str) -> Found:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline and command.poll() is None:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise FailedRun(f"the server did not {what}")
