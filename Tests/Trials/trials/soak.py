"""Records a server under load for some minutes. Threads and children start and end, images are taken, and workers are
killed at random moments. Fails if a process grows, if a call is missing in the traces, if an image fails, or if a
process remains."""

import argparse
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

from .light_soak import LightSoak
from .processes import environment, must
from .situations import Builder
from .survival import ROOT, end_session

WORKERS, CLIENTS = 3, 4
ENTRY = struct.Struct("QQQQ")  # process ID, calls that began, calls that returned, unused
SAMPLE_SECONDS = 2
# Permitted growth of a process's medians, from the second third of its samples to the last, in kB and numbers. The
# pages of the allocator and of open traces vary.
GROWTH = {"VmRSS": 3000, "VmSize": 3000, "maps": 12, "fd": 6, "zombies": 1}


def say(text):
    print(f"soak: {text}", file=sys.stderr, flush=True)


class Counts:
    """The file where the server's processes count their calls."""

    def __init__(self, path):
        self._path = path

    def read(self):
        """Returns (process, begun, done) for each process, in the order of their start."""
        with open(self._path, "rb") as file:
            data = file.read()
        return [entry[:3] for entry in ENTRY.iter_unpack(data[: len(data) // ENTRY.size * ENTRY.size]) if entry[0]]


def load(path, ending, answered):
    """Runs a client, whose connections last for a few requests each. Connections to a killed worker break."""
    while not ending.is_set():
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(10)
                connection.connect(path)
                for _ in range(random.randint(1, 5)):
                    connection.sendall(b"x")
                    if connection.recv(1) != b"x":
                        break
                    answered.append(1)
        except OSError:
            time.sleep(0.02)
        time.sleep(0.002)


def measure(process):
    """Returns sizes in kB and numbers, or None if the process has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
            status = dict(re.findall(r"^(VmRSS|VmSize):\s+(\d+)", file.read(), re.M))
        with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
            maps = len(file.readlines())
        found = {name: int(value) for name, value in status.items()}
        zombies = 0
        with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
                zombies += file.read().rpartition(")")[2].split()[0] == "Z"
        return (
            {**found, "maps": maps, "fd": len(os.listdir(f"/proc/{process}/fd")), "zombies": zombies}
            if len(found) == 2
            else None
        )
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return None


def growth(samples):
    """Returns a sentence for each value that grew too much, by the medians of the second and the last third."""
    third = len(samples) // 3
    if third < 3:
        return ["there are too few samples"]
    found = []
    for name, allowed in GROWTH.items():
        before, after = (
            statistics.median(each[name] for each in part) for part in (samples[third : 2 * third], samples[-third:])
        )
        if after - before > allowed:
            found.append(f"{name} grew from {before:.0f} to {after:.0f}")
    return found


class Soak:
    def __init__(self, products, minutes, directory, builder):
        self._leaktrace = os.path.join(os.path.abspath(products), "leaktrace")
        self._seconds, self._directory = minutes * 60, directory
        self._traces = os.path.join(directory, "traces")
        self._program = builder.path("soak-server.c", must)
        self._counts = Counts(os.path.join(directory, "counts"))
        self.problems, self._samples, self._answered, self._kills, self._images = [], {}, [], 0, 0

    def run(self):
        os.makedirs(self._traces)
        recorder = subprocess.Popen(
            [
                self._leaktrace,
                "record",
                "--quiet",
                "--follow-children",
                "--output",
                os.path.join(self._traces, "%n.%p.trace"),
                "--",
                self._program,
                self._directory,
                str(WORKERS),
            ],
            env=environment(),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        ending = threading.Event()
        clients = [
            threading.Thread(target=load, args=(os.path.join(self._directory, "socket"), ending, self._answered))
            for _ in range(CLIENTS)
        ]
        try:
            self._await_workers(recorder)
            for client in clients:
                client.start()
            self._watch()
            ending.set()
            os.kill(self._counts.read()[0][0], signal.SIGTERM)
            errors = recorder.communicate(timeout=120)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            self.problems.append("the server does not end")
            errors = ""
        finally:
            ending.set()
            left = end_session(recorder.pid)
        if recorder.poll() != 0:
            self.problems.append(f"the server ended with {recorder.poll()}: {errors[-500:]}")
        if left:
            self.problems.append(f"processes are left: {', '.join(left)}")
        self.problems += [f"the recorder says: {line}" for line in errors.splitlines()[:10]]
        self._judge_growth()
        self._judge_traces()

    def _await_workers(self, recorder):
        deadline = time.monotonic() + 60
        while not os.path.exists(self._directory + "/counts") or len(self._counts.read()) <= WORKERS:
            if recorder.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(
                    f"soak: the server does not start: {recorder.stderr.read().decode(errors='replace')[-500:]}"
                )
            time.sleep(0.05)

    def _watch(self):
        """Takes samples and images, and kills workers. It spares the first worker, so that its growth shows."""
        begin, next_images, next_kill, next_sample = time.monotonic(), 15.0, 5.0, 0.0
        between = min(60.0, self._seconds / 5)
        while (elapsed := time.monotonic() - begin) < self._seconds:
            entries = self._counts.read()
            if elapsed >= next_sample:
                next_sample += SAMPLE_SECONDS
                for process in (entries[0][0], entries[1][0]):
                    found = measure(process)
                    if found:
                        self._samples.setdefault(process, []).append(found)
                    else:
                        self.problems.append(f"process {process} is gone after {elapsed:.0f} s")
                self._forget_programs()
            if elapsed >= next_kill:
                next_kill += random.uniform(0.5, 4)
                for process in random.sample(entries[2:], len(entries[2:])):
                    if self._kill_worker(process[0]):
                        self._kills += 1
                        break
            if elapsed >= next_images:
                next_images += between
                for process in (entries[0][0], entries[1][0]):
                    self._take_image(process)
            time.sleep(0.02)

    def _kill_worker(self, process):
        """Kills a worker. Returns False if it has ended; another process may have its ID by now."""
        try:
            descriptor = os.pidfd_open(process)
        except OSError:
            return False
        try:
            if os.readlink(f"/proc/{process}/exe") != os.path.realpath(self._program):
                return False
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def _take_image(self, process):
        outcome = subprocess.run(
            [self._leaktrace, "snapshot", str(process)],
            env=environment(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        self._images += 1
        if outcome.returncode != 0:
            self.problems.append(f"no image of {process}: {outcome.stderr.decode(errors='replace').strip()[-300:]}")

    def _forget_programs(self):
        """Removes closed traces of the programs that workers start. There are too many to keep."""
        for path in glob.glob(os.path.join(self._traces, "true.*.trace")):
            if not os.path.exists(path + ".live"):
                os.unlink(path)

    def _judge_growth(self):
        for process, samples in self._samples.items():
            self.problems += [f"process {process}: {each}" for each in growth(samples)]
            say(f"process {process}: first {samples[0]}, last {samples[-1]}")

    def _judge_traces(self):
        """Checks that traces have all calls that returned, and none that did not begin, even of killed processes."""
        # The system reuses process IDs. The later trace has a number at the end of its name.
        numbered: dict[int, list[tuple[int, str]]] = {}
        for path in glob.glob(os.path.join(self._traces, "soak-server.*.trace*")):
            name = re.fullmatch(r"soak-server\.(\d+)\.trace(?:\.(\d+))?", os.path.basename(path))
            if name:
                numbered.setdefault(int(name[1]), []).append((int(name[2] or 1), path))
        traces = {process: [path for _, path in sorted(paths)] for process, paths in numbered.items()}
        judged = total = 0
        for process, begun, done in self._counts.read():
            if not traces.get(process):
                if done:
                    self.problems.append(f"process {process} has no trace, and made {done} calls")
                continue
            text = must(
                [self._leaktrace, "analyze", "--format", "json", "--limit", "1", traces[process].pop(0)], limit=600
            )
            trace = json.loads(text)["reports"][0]["traces"][0]
            count = trace["events"].get("aligned_alloc", 0)
            total += count
            judged += 1
            if not done <= count <= begun:
                self.problems.append(f"process {process}: {count} calls in the trace, {done} to {begun} were made")
            lost = {
                name: value
                for name, value in trace["drops"].items()
                if value and name not in ("stackTruncated", "stackIncomplete")
            }
            if lost:
                self.problems.append(f"process {process}: lost {lost}")
            if trace["diagnostics"]:
                self.problems.append(f"process {process}: damaged: {trace['diagnostics'][:3]}")
        left = glob.glob(os.path.join(self._traces, "*.live"))
        if left:
            self.problems.append(f"{len(left)} live files are left")
        say(
            f"{len(self._answered)} requests, {self._kills} workers killed, {self._images} images, {judged} traces with {total} counted calls"
        )


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument(
        "minutes", type=float, metavar="MINUTES", help="duration; 2 for a quick check, 60 for a real soak"
    )
    parser.add_argument(
        "--light", action="store_true", help="instead, a light recording of a hummingbird server that leaks"
    )
    parser.add_argument("--keep", metavar="DIR", help="keeps traces and counts here")
    parser.add_argument(
        "--cache",
        metavar="DIR",
        default=os.path.join(ROOT, ".build", "survival"),
        help="where the server is built (default: .build/survival)",
    )
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.makedirs(options.cache, exist_ok=True)
    toolchain = os.path.dirname(os.path.realpath(shutil.which("swift") or "/usr/bin/swift"))
    directory = options.keep or tempfile.mkdtemp(prefix="soak-")
    os.makedirs(directory, exist_ok=True)
    try:
        soak = (
            LightSoak(options.products, options.minutes, directory, say)
            if options.light
            else Soak(options.products, options.minutes, directory, Builder(options.cache, toolchain))
        )
        soak.run()
    finally:
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    for problem in soak.problems:
        say(problem)
    kept = "the leak has its name" if options.light else "no call was lost"
    say(f"nothing grew, {kept}, no process is left" if not soak.problems else f"{len(soak.problems)} problems")
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()
