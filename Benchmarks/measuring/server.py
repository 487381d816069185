"""A server at a fixed rate of requests: latencies untraced and traced."""

import os
import re
import resource
import signal
import statistics
import subprocess
import time

from .figures import grouped, table
from .images import children, executable
from .machine import ProcessorUse
from .parts import heading_lines
from .processes import FailedRun
from .recorders import Workload
from .rounds import say

HEADING = "# A server under load"
BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = 1000  # requests a second
CONNECTIONS = 32
WARMUP, SECONDS = 3, 20
QUICK_WARMUP, QUICK_SECONDS = 1, 3
PATIENCE = 60  # seconds until a server that has not begun, or not ended, is given up
PERCENTILES = ("p50", "p99", "p99.9", "largest")


def build():
    """Builds the server and what makes the load. Gives the directory of the products."""
    scratch = os.path.join(os.path.dirname(BENCHMARKS), ".build", "benchmarks-server")
    command = ["swift", "build", "-c", "release", "--package-path", os.path.join(BENCHMARKS, "server"), "--scratch-path", scratch]
    say("compiling the server")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(command + ["--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def measure(ways, rounds, quick, directory):
    """By way, what was measured of each round: latencies in microseconds, processor seconds of the command and all it started."""
    products = build()
    workload = Workload("shop-server", os.path.join(products, "shop-server"), [])
    seconds = [str(QUICK_WARMUP), str(QUICK_SECONDS)] if quick else [str(WARMUP), str(SECONDS)]
    load = [os.path.join(products, "pace"), "PORT", str(RATE)] + seconds + [str(CONNECTIONS)]
    found, failures = {way.name: [] for way in ways}, {}
    for number in range(rounds):
        for way in ways:
            if way.name in failures:
                continue
            say(f"server, {way.name}, round {number + 1} of {rounds}")
            try:
                found[way.name].append(_round(way, workload, load, directory))
            except FailedRun as failure:
                # A peer that cannot do it is a result; one of our own ways is not.
                if way.name != "heaptrack":
                    raise
                failures[way.name] = str(failure).splitlines()[0]
    return {"rate": RATE, "connections": CONNECTIONS, "seconds": int(seconds[1]), "ways": {name: each for name, each in found.items() if each}, "failures": failures}


def _round(way, workload, load, directory):
    output = os.path.join(directory, "server.txt")
    use, begin, before = ProcessorUse(), time.monotonic(), _processor_of_children()
    with open(output, "wb") as printed, open(os.path.join(directory, "errors.txt"), "wb") as errors:
        command = subprocess.Popen(way.command(workload, directory), stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, cwd=directory)
    ended = False
    try:
        port = _wait_for(lambda: _port(output), command, "begin")
        server = _wait_for(lambda: _find(command.pid, workload.program), command, "run")
        result = subprocess.run([port if word == "PORT" else word for word in load], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode != 0:
            raise FailedRun(f"{way.name}, server: not every request was answered: {result.stderr}")
        os.kill(server, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while not ended:
            process, status, usage = os.wait4(command.pid, os.WNOHANG)
            ended = process != 0
            if not ended and time.monotonic() > deadline:
                raise FailedRun(f"{way.name}, server: did not end within {PATIENCE} seconds of SIGTERM")
            time.sleep(0.01)
        command.returncode = os.waitstatus_to_exitcode(status)
        if command.returncode != 0:
            raise FailedRun(f"{way.name}, server: exit status {command.returncode}")
    finally:
        if not ended:
            for process in _descendants(command.pid):
                os.kill(process, signal.SIGKILL)
            command.wait()
    others = use.others(_processor_of_children() - before, time.monotonic() - begin)
    words = result.stdout.split()
    facts = way.facts(directory)
    return {"others": [others], "requests": int(words[0]), **{name: float(word) for name, word in zip(PERCENTILES, words[1:])},
            "processor": usage.ru_utime + usage.ru_stime, **facts}


def _processor_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _port(path):
    with open(path, errors="replace") as file:
        found = re.search(r"^port (\d+)$", file.read(), re.MULTILINE)
    return found[1] if found else None


def _descendants(process):
    """It and all below it, the innermost first."""
    return [each for child in children(process) for each in _descendants(child)] + [process]


def _find(process, program):
    return next((each for each in _descendants(process) if executable(each) == os.path.realpath(program)), None)


def _wait_for(look, command, what):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and command.poll() is None:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise FailedRun(f"the server did not {what}")


def median(found, way, name):
    return statistics.median(each[name] for each in found["ways"][way])


def markdown(found, part):
    rows = []
    for way, rounds in found["ways"].items():
        row = [way]
        for name in PERCENTILES:
            values = [each[name] / 1000 for each in rounds]
            row.append(f"{statistics.median(values):.2f} ({min(values):.2f}…{max(values):.2f})")
        row.append(f"{statistics.median(each['processor'] for each in rounds):.1f}")
        row.append(grouped(round(statistics.median(each["events"] for each in rounds))) if "events" in rounds[0] else "")
        rows.append(row)
    parts = [
        HEADING, heading_lines(part),
        f"`server/Sources/shop-server`, on hummingbird, and `server/Sources/pace`, which sends {found['rate']} requests a second over {found['connections']} connections, "
        "one in two with a JSON body; both share the machine. The rate is kept whatever the answers do, and a latency counts from the moment when the request was to be sent: requests "
        f"that a pause delayed are counted with their delay. {found['seconds']} s a round after a warm-up; latencies in milliseconds. *Processor* is seconds of the server and of the tool's own "
        "processes, start and end included.",
        table(["", "p50", "p99", "p99.9", "largest", "processor", "events"], rows),
    ]
    parts += [f"{way} failed: {reason}" for way, reason in found["failures"].items()]
    return "\n\n".join(parts)
