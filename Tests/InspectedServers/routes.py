"""Measures how the route that lists a program's own tasks changes the latency of a server under load.

Usage: routes.py LATENCY SERVER ROUNDS NAME=LEAKTRACE...
LATENCY is the program of latency.c, and SERVER is the debug-server of Tests/Corpus/Packages. In each round, each
command lists the tasks 0, 1 and 3 times within ten seconds. Prints all rounds, and a table with medians.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

RATE = 1000  # requests per second
SECONDS = 10
CALLS = [0, 1, 3]
WARM_UP = 3  # seconds
# Time limit in seconds until the server has opened its port.
PATIENCE = 60


class Failed(Exception):
    """The server gives no answer or a wrong one."""


class Server:
    """A server whose route answers with a list of its tasks. The leaktrace command makes the list."""

    def __init__(self, program: str, leaktrace: str) -> None:
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by end)
        self._running = subprocess.Popen(
            [program],
            stdout=self._printed,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LEAKTRACE_COMMAND": leaktrace},
        )
        self.port = self._port()

    def _port(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self._printed.seek(0)
            found = re.search(r"^port (\d+)$", self._printed.read(), re.MULTILINE)
            if found:
                return found[1]
            time.sleep(0.05)
        raise Failed("the server does not open its port")

    def end(self) -> None:
        self._running.terminate()
        self._running.wait()
        self._printed.close()


def measure(latency: str, server: Server, seconds: int, calls: int) -> tuple[list[float], list[float]]:
    """Returns the times of requests (median, 99 %, 99.9 %, longest), and the times of calls, in milliseconds."""
    command = [latency, server.port, str(RATE), str(seconds), str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr)
    times = [float(word) for word in done.stdout.split("\n")[0].split()]
    return times[:4], times[4:]


def main() -> None:
    latency, program, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    commands = dict(argument.split("=", 1) for argument in sys.argv[4:])
    results: dict[tuple[str, int], list[list[float]]] = {}
    answers: dict[tuple[str, int], list[float]] = {}
    for number in range(rounds):
        for calls in CALLS:
            for name, leaktrace in commands.items():
                server = Server(program, leaktrace)
                try:
                    measure(latency, server, WARM_UP, 1)
                    times, called = measure(latency, server, SECONDS, calls)
                finally:
                    server.end()
                key = (name, calls)
                results.setdefault(key, []).append(times)
                answers.setdefault(key, []).extend(called)
                shown = " ".join(f"{value:.2f}" for value in times)
                load = os.getloadavg()[0]
                print(f"round {number + 1}, {name}, {calls} calls: {shown}; load {load:.1f}", flush=True)
    print("| command | calls in 10 s | p50 | p99 | p99.9 | longest | answer |")
    print("| -- | -: | -: | -: | -: | -: | -: |")
    for key in results:
        medians = [statistics.median(column) for column in zip(*results[key], strict=True)]
        row = " | ".join(f"{value:.2f}" for value in medians)
        answer = f"{statistics.median(answers[key]):.0f} ms" if answers[key] else ""
        print(f"| {key[0]} | {key[1]} | {row} | {answer} |")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"routes: {failure}")
