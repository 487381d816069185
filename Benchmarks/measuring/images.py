"""Heap images of a large heap: what taking one costs the program, and what finding leaks in it takes."""

import json
import os
import re
import subprocess
import time

from .figures import Series
from .machine import ProcessorUse
from .processes import FailedRun, run
from .rounds import say

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPOSITORY = os.path.dirname(BENCHMARKS)
# Accounts, numbers an order keeps, and of how many accounts one is leaked: 10.5 million blocks in 1.04 GB, or a tenth of that.
HEAP = ["500000", "16", "1000"]
QUICK_HEAP = ["50000", "16", "1000"]
THREADS = (1, 8, 64)
WRITING = "0.25"  # seconds of each of the target's rounds of writing
PATIENCE = 150  # seconds until an image that is not done is given up


def build_measured():
    """Builds what is measured inside one process. Gives the directory of the products."""
    command = ["swift", "build", "-c", "release", "--package-path", BENCHMARKS, "--scratch-path",
               os.path.join(REPOSITORY, ".build", "benchmarks")]
    say("compiling what is measured inside one process")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(command + ["--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Samples:
    """Series by name."""

    def __init__(self):
        self.series = {}

    def add(self, name, value):
        self.series.setdefault(name, Series()).add(value)

    def __getitem__(self, name):
        return self.series[name]

    def plain(self):
        return {name: series.values for name, series in self.series.items()}


class HeapProcess:
    """The workload, talked to line by line."""

    def __init__(self, command, directory):
        self._errors = open(os.path.join(directory, "errors.txt"), "wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=directory, text=True, bufsize=1)
        self.command = command
        self._program = None

    def expect(self, word):
        """The words after `word` on the next line."""
        line = self._process.stdout.readline()
        words = line.split()
        if not words or words[0] != word:
            raise FailedRun(f"{' '.join(self.command)}: printed {line!r} where {word} was expected")
        return words[1:]

    def ask(self, line, word):
        self._process.stdin.write(line + "\n")
        return self.expect(word)

    def find(self, program):
        """The workload's own process, which is the command's or a child of it."""
        for process in [self._process.pid] + children(self._process.pid):
            if executable(process) == os.path.realpath(program):
                self._program = process
                return process
        raise FailedRun(f"{' '.join(self.command)}: {program} is not running")

    def copies(self):
        """Processes that write an image. One that has ended is there until the program asks for its status."""
        return [each for each in children(self._program) if state(each) not in ("Z", "X", "")]

    def wait_for_copies(self, idle):
        """Calls `idle` until no image is being written."""
        deadline = time.monotonic() + PATIENCE
        while self.copies():
            if time.monotonic() > deadline:
                raise FailedRun(f"{' '.join(self.command)}: an image was not done after {PATIENCE} seconds")
            idle()

    def exit(self):
        """Seconds from the end of the workload's work until the command has ended."""
        begin = int(self.ask("exit", "exit")[0]) / 1e9
        status = self._process.wait()
        end = time.monotonic()
        self.end()
        if status != 0:
            raise FailedRun(f"{' '.join(self.command)}: exit status {status}")
        return end - begin

    def end(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def children(process):
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def state(process):
    """As the kernel writes it: R running, Z ended. Empty once it is gone."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def executable(process):
    try:
        return os.readlink(f"/proc/{process}/exe")
    except OSError:
        return ""


def memory(process):
    """Bytes that a process has of memory, its part of what it shares counted, and of page tables. None once it has ended, or is closed."""
    fields = {}
    try:
        for name in ("smaps_rollup", "status"):
            with open(f"/proc/{process}/{name}") as file:
                fields.update(line.split(":", 1) for line in file if ":" in line)
        return (int(fields["Pss"].split()[0]) + int(fields["VmPTE"].split()[0])) * 1024
    except (OSError, KeyError, ValueError):
        return None


def live_heap(tool, measured, heap, arguments, rounds, directory):
    """A heap of one thread's, and a thread that sleeps."""
    samples, others = Samples(), Series()
    trace = os.path.join(directory, "heap.trace")
    command = [tool, "record", "-o", trace, "--", heap] + arguments
    leaked = {}
    for number in range(rounds):
        use = ProcessorUse()
        begin = time.monotonic()
        before = sum(os.times()[:4])
        _untraced(heap, arguments, samples, directory)
        for path in (trace, trace + ".live"):
            if os.path.exists(path):
                os.unlink(path)
        leaked = _traced(command, heap, samples, directory)
        images = lines(measured, "image-list", [trace], directory)
        if len(images) != 3 or not all(image["isWhole"] and image["isFrozen"] for image in images):
            raise FailedRun(f"{' '.join(command)}: not three whole images of a process that stood still: {images}")
        for image, kind in zip(images, ("idle", "writing", "exit")):
            samples.add(f"{kind}: pause", image["pause"])
            samples.add(f"{kind}: total", image["total"])
        samples.add("words", images[-1]["words"])
        samples.add("captured", images[-1]["captured"])
        samples.add("image bytes", image_bytes(tool, trace, directory)[-1])
        samples.add("trace bytes", os.path.getsize(trace))
        wall = time.monotonic() - begin
        # Nobody is told what the copies used: they have a processor of their own for as long as they write.
        others.add(use.others(sum(os.times()[:4]) - before + sum(image["total"] for image in images), wall))
        say(f"heap images: round {number + 1} of {rounds}")
    return {"arguments": arguments, "leaked": leaked, "samples": samples, "others": others, "trace": trace}


def _untraced(heap, arguments, samples, directory):
    process = HeapProcess([heap] + arguments, directory)
    try:
        samples.add("untraced: built", int(process.expect("built")[0]) / 1e9)
        samples.add("untraced: write", _rate(process))
        samples.add("untraced: exit", process.exit())
    finally:
        process.end()


def _rate(process):
    """Nanoseconds that writing to an account takes."""
    count, taken = process.ask("write " + WRITING, "written")
    return int(taken) / int(count)


def _traced(command, heap, samples, directory):
    process = HeapProcess(command, directory)
    try:
        words = process.expect("built")
        samples.add("traced: built", int(words[0]) / 1e9)
        process.find(heap)
        samples.add("traced: write", _rate(process))
        # First an image while nothing else happens, then one while the program goes on writing everywhere.
        samples.add("idle: call", int(process.ask("snapshot", "snapshot")[1]) / 1e9)
        process.wait_for_copies(lambda: time.sleep(0.05))
        program = process.find(heap)
        base = memory(program)
        samples.add("resident", base or 0)
        samples.add("writing: call", int(process.ask("snapshot", "snapshot")[1]) / 1e9)
        added, counts = [], [0, 0]

        def write():
            both = [memory(each) for each in [program] + process.copies()]
            if base and len(both) > 1 and all(both):
                added.append(sum(both) - base)
            count, taken = process.ask("write " + WRITING, "written")
            counts[0] += int(count)
            counts[1] += int(taken)

        process.wait_for_copies(write)
        if added:
            samples.add("writing: added memory", max(added))
        if counts[0]:
            samples.add("writing: write", counts[1] / counts[0])
        samples.add("traced: exit", process.exit())
        return {words[index]: int(words[index + 1]) for index in range(1, len(words), 2)}
    finally:
        process.end()


def image_bytes(tool, trace, directory):
    """Bytes of the trace that are each image's, in order of time."""
    chunks = run([tool, "dump", "--chunks", trace], directory).output
    sizes = []
    for kind, stored in re.findall(r"^\d+ chunk .*?\bkind=(\w+) .*?\bstored=(\d+)", chunks, re.MULTILINE):
        if kind == "snapshot":
            sizes.append(0)
        if kind in ("snapshot", "memory", "snapshot_end") and sizes:
            sizes[-1] += int(stored)
    return sizes


def lines(measured, name, arguments, directory):
    """What a program that prints lines of JSON prints."""
    return [json.loads(line) for line in run([os.path.join(measured, name)] + arguments, directory).output.splitlines()]


def analysis(tool, measured, found, rounds, directory):
    """Reads the last trace: the replay alone, all of it, and phase by phase."""
    samples, phases, notes = Samples(), {}, {}
    report = None
    for number in range(rounds):
        for name, options in (("replay", ["--together"]), ("analyze", ["--format", "json"])):
            result = run([tool, "analyze"] + options + [found["trace"]], directory)
            samples.add(f"{name}: wall", result.wall)
            samples.add(f"{name}: processor", result.processor)
            samples.add(f"{name}: peak", result.peak)
            if name == "analyze":
                report = json.loads(result.output)["reports"][0]
        collect(lines(measured, "analysis-phases", [found["trace"]], directory), phases, notes)
        say(f"analysis: round {number + 1} of {rounds}")
    instances = {}
    for finding in report["findings"]:
        kind = "counts" if not finding["isCycle"] else (
            "closures" if any(step["kind"] == "closure" for step in finding["path"]) else "partners")
        kind = kind if finding["path"][0]["type"] == "Account" else "other"
        instances.setdefault(kind, []).append(finding["instances"])
    total = report["traces"][0]["atExit"]
    return {"samples": samples, "phases": phases, "notes": notes, "findings": instances, "remarks": report["findingRemarks"],
            "live": {"bytes": total["liveBytes"], "blocks": notes["blocks"]}}


def collect(found, phases, notes):
    for line in found:
        if "note" in line:
            notes[line["note"]] = line["value"]
        else:
            samples = phases.setdefault(line["phase"], Samples())
            for key in ("wall", "processor", "peak", "before", "after"):
                samples.add(key, line[key])


def busy_threads(tool, measured, count, directory):
    """The pauses of programs whose threads allocate, free and take a lock all the time."""
    source = os.path.join(REPOSITORY, "Tests", "Programs", "snapshot-threads.c")
    program = os.path.join(directory, "snapshot-threads")
    subprocess.run(["cc", "-O2", "-o", program, source, "-lpthread", "-ldl"], check=True)
    found = {}
    for threads in THREADS:
        trace = os.path.join(directory, "threads.trace")
        for path in (trace, trace + ".live"):
            if os.path.exists(path):
                os.unlink(path)
        result = run([tool, "record", "-q", "-o", trace, "--", program, str(threads), str(count)], directory)
        if "nothing was lost" not in result.output:
            raise FailedRun(f"{program}: printed {result.output!r}")
        images = lines(measured, "image-list", [trace], directory)[:count]
        if len(images) != count:
            raise FailedRun(f"{program}: {len(images)} images instead of {count}")
        os.unlink(trace)
        found[threads] = {
            "pauses": [image["pause"] for image in images if image["isFrozen"]],
            "totals": [image["total"] for image in images], "unfrozen": sum(not image["isFrozen"] for image in images)}
        say(f"images of {threads} busy threads")
    return found


def graph_algorithms(measured, nodes, rounds, directory):
    found = {}
    for order in ("ordered", "shuffled"):
        phases, notes = {}, {}
        for _ in range(rounds):
            collect(lines(measured, "graph-algorithms", [str(nodes), order], directory), phases, notes)
        found[order] = {"phases": phases, "notes": notes}
        say(f"graph algorithms, {order}")
    return found


def measure(tool, heap, rounds, is_quick, directory):
    """Everything. `heap`: the compiled workload."""
    measured = build_measured()
    found = live_heap(tool, measured, heap, QUICK_HEAP if is_quick else HEAP, rounds, directory)
    result = {"heap": found, "analysis": analysis(tool, measured, found, rounds, directory)}
    os.unlink(found["trace"])
    result["threads"] = busy_threads(tool, measured, 20 if is_quick else 100, directory)
    result["graph"] = graph_algorithms(measured, 1_000_000 if is_quick else 10_000_000, rounds, directory)
    return result
