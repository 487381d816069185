"""Runs a server with a light recording and one without, under the same load. The server leaks one object per thousand
requests, and an image is taken each minute. Fails if the recorded server grows by more than it leaks, if a request
fails, or if no finding names the leak by the third image."""

import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import time

from .busy import SERVERS, child_of
from .processes import FailedCommand, environment, kill_session, run
from .survival import end_session

RATE, WARM_UP, CONNECTIONS = 500, 5, 16  # requests a second, seconds, connections of each server
# Every second request is an order, and one in ORDERS_A_LEAK orders leaks a basket.
ORDERS_A_LEAK = 500
IMAGE_SECONDS = 60
LEAK = "Basket"
NAMED_BY = 3  # number of the image
SAMPLE_SECONDS = 5
# Permitted growth in the last third beside the leak, for pages that the allocator keeps.
GROWTH_KILOBYTES = 3000
# Bytes of a basket with its closure, in blocks.
LEAKED_BYTES = 160
PATIENCE = 300


class Server:
    """A shop-server with its load."""

    def __init__(self, name, command, directory, program):
        self.name = name
        self._output = os.path.join(directory, f"{name}.output")
        with open(self._output, "wb") as output:
            self.command = subprocess.Popen(
                [*command, program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment({"SHOP_LEAK_EVERY": str(ORDERS_A_LEAK)}),
                start_new_session=True,
            )
        self._port = self._await_port()
        self.process = int(child_of(self.command.pid, program))
        self.resident = []  # kilobytes

    def begin(self, pace, seconds):
        arguments = [str(RATE), str(WARM_UP), str(seconds), str(CONNECTIONS)]
        self.load = subprocess.Popen(
            [pace, self._port, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def sample(self):
        with open(f"/proc/{self.process}/status") as file:
            found = re.search(r"^VmRSS:\s+(\d+)", file.read(), re.MULTILINE)
        if found:
            self.resident.append(int(found[1]))

    def growth(self):
        """Returns the growth in kilobytes, from the median of the second third to the median of the last."""
        third = len(self.resident) // 3
        parts = self.resident[third : 2 * third], self.resident[-third:]
        before, after = (statistics.median(part) for part in parts)
        return after - before

    def end(self):
        """Ends the load and the server. Returns the latencies p50, p99, p99.9 and the largest, in microseconds."""
        said, errors = self.load.communicate(timeout=PATIENCE)
        if self.load.returncode != 0:
            raise FailedCommand(f"{self.name}: not every request was answered: {errors.strip()[-300:]}")
        os.kill(self.process, signal.SIGTERM)
        if self.command.wait(PATIENCE) != 0:
            raise FailedCommand(f"{self.name} ended with {self.command.returncode}: {self._said()}")
        return [float(each) for each in said.split()[1:5]]

    def kill(self):
        for each in (self.command, getattr(self, "load", None)):
            if each and each.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    kill_session(each.pid) if each is self.command else each.kill()
                each.wait()

    def _await_port(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.command.poll() is None:
            found = re.search(r"^port (\d+)$", self._said(), re.MULTILINE)
            if found:
                return found[1]
            time.sleep(0.1)
        raise FailedCommand(f"{self.name} did not begin to listen: {self._said()}")

    def _said(self):
        with open(self._output, errors="replace") as file:
            return file.read()[-500:]


class LightSoak:
    def __init__(self, products, minutes, directory, say):
        self._leaktrace = os.path.join(os.path.abspath(products), "leaktrace")
        self._seconds, self._directory, self._say = round(minutes * 60), directory, say
        self._trace = os.path.join(directory, "light.trace")
        self.problems = []

    def run(self):
        program = SERVERS.build(os.cpu_count() or 1)
        pace = os.path.join(os.path.dirname(program), "pace")
        options = ["--light", "--snapshot-every", f"{IMAGE_SECONDS}s", "--quiet", "-o", self._trace]
        servers = [
            Server("untraced", [], self._directory, program),
            Server("light", [self._leaktrace, "record", *options, "--"], self._directory, program),
        ]
        try:
            for server in servers:
                server.begin(pace, self._seconds)
            while all(server.load.poll() is None for server in servers):
                for server in servers:
                    server.sample()
                time.sleep(SAMPLE_SECONDS)
            latencies = {server.name: server.end() for server in servers}
        finally:
            for server in servers:
                server.kill()
        left = end_session(servers[1].command.pid)
        if left:
            self.problems.append(f"processes are left: {', '.join(left)}")
        for name, values in latencies.items():
            self._say(f"{name}: p50, p99, p99.9, largest {', '.join(f'{value / 1000:.2f}' for value in values)} ms")
        self._judge_growth(servers)
        self._judge_images()

    def _judge_growth(self, servers):
        for server in servers:
            first, last = server.resident[len(server.resident) // 3], server.resident[-1]
            self._say(f"{server.name}: {first} kB after a third, {last} kB at the end, grew by {server.growth()} kB")
        untraced, light = (server.growth() for server in servers)
        leaked = self._seconds / 3 * RATE / 2 / ORDERS_A_LEAK * LEAKED_BYTES / 1024
        if light > max(untraced, leaked) + GROWTH_KILOBYTES:
            self.problems.append(f"the recorded server grew by {light} kB, the other one by {untraced}")

    def _judge_images(self):
        listed = run([self._leaktrace, "snapshots", "--format", "json", self._trace], limit=600)
        count = len(json.loads(listed.output)["snapshots"])
        expected = self._seconds // IMAGE_SECONDS
        self._say(f"{count} images, {os.path.getsize(self._trace) / 1e6:.1f} MB")
        if count < expected:
            self.problems.append(f"{count} images in {self._seconds} s")
        for number in range(1, min(NAMED_BY, count) + 1):
            asked = ["analyze", "--format", "json", "--snapshot", str(number), self._trace]
            report = os.path.join(self._directory, "report.json")
            run(["/bin/sh", "-c", 'exec "$@" >"$0"', report, self._leaktrace, *asked], limit=600)
            with open(report) as file:
                findings = json.load(file)["reports"][0].get("findings") or []
            named = [each for each in findings if LEAK in json.dumps(each["path"])]
            self._say(f"image {number}: {[(each['verdict'], each['instances']) for each in named] or 'no leak'}")
            if named:
                return
        self.problems.append(f"{LEAK} is not named by image {NAMED_BY}")
