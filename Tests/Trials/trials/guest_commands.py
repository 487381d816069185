"""Checks leaktrace's commands. scripts/test-arm64 --commands runs this module in the emulated machine.

Writes a JSON document with the complaints and the seconds of each check. Each check leaves its files in its own
directory in DIRECTORY.
"""

import argparse
import contextlib
import dataclasses
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from .finding import Finding
from .processes import environment

COMMAND_SECONDS = 300
PROGRAM_SECONDS = 180
NANOSECONDS = 1_000_000_000
# The leaks of Tests/Programs/platform.swift by verdict and type: number of instances and text of the source line. The
# line of a task is the one that starts it, since the runtime allocates it.
PLATFORM = {
    ("retainCycle", "Visit"): (20, "let (first, second) = (Visit(), Visit())"),
    ("lost", "Order"): (20, "Unmanaged.passRetained(Order(number))"),
    ("suspended", "Task"): (3, "{ Task { await wait(Waiter()) } }"),
}
# A second call of `leak` repeats all findings except the tasks.
NOT_REPEATED = "suspended"
# Number of tasks that may be missing. At -Onone, a stale word on the main thread's stack may lead to a task. This
# happened with pages of 16 KiB.
HIDDEN_TASKS = {"-O": 0, "-Onone": 1}
STANDING_THREADS = 3
# Modes of Tests/Programs/watched.swift: suspects with their holders, and verdicts with titles of proven leaks.
WATCHED = {
    "registry": (["Session in Server.sessions"], []),
    "cycles": ([], ["retainCycle Screen ↺"]),
    "small-cache": ([], []),
}
# A suspicion is strong after ten images. Proofs need fewer.
WATCHED_IMAGES, PROVEN_IMAGES = 10, 3
WATCHING_SECONDS = 1200
# Maximum number of requests for an image during `attach`.
EARLY_TRIES = 100
FEATURES = ("record", "light", "snapshot", "attach", "inspect", "watch", "core-files", "field-names", "source-lines")
CORE_FLAGS = "0x3f"


class Failed(Exception):
    """A step of a check failed. The text has the reason."""


@dataclasses.dataclass
class Ended:
    """The outcome of a program."""

    status: int
    output: str
    errors: str

    @property
    def visible(self) -> tuple[int, str, str]:
        return self.status, self.output, self.errors


def run(words: list[str], directory: str, limit: int = COMMAND_SECONDS) -> Ended:
    try:
        done = subprocess.run(
            words,
            cwd=directory,
            env=environment({"TMPDIR": "/tmp"}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(words[:3])} did not end in {limit} s") from late
    return Ended(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def allow_core() -> None:
    """Lets this process write a core file with all its memory, including mapped files."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with open("/proc/self/coredump_filter", "w", encoding="ascii") as file:
        file.write(CORE_FLAGS)


class Waiting:
    """A program that prints "ready PROCESS" and waits. Keeps its whole output."""

    def __init__(self, words: list[str], directory: str, limits: Callable[[], None] | None = None) -> None:
        self._errors_path = os.path.join(directory, "program.err")
        with open(self._errors_path, "wb") as errors:
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=directory,
                env=environment(),
                start_new_session=True,
                preexec_fn=limits,
            )
        self._lines: list[str] = []
        self.process = 0
        try:
            first = self._line()
            if not first.startswith("ready "):
                raise Failed(f"the program printed {first!r}")
            self.process = int(first.split()[1])
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> "Waiting":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        if self._child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()

    def _line(self) -> str:
        assert self._child.stdout
        line = self._child.stdout.readline().decode(errors="replace")
        self._lines.append(line)
        return line

    def step(self) -> None:
        """Lets the program continue once."""
        assert self._child.stdin
        self._child.stdin.write(b"x")
        self._child.stdin.flush()

    def leak_again(self) -> None:
        self.step()
        if (line := self._line()) != "done\n":
            raise Failed(f"the program printed {line!r} instead of 'done'")

    def end(self, number: int | None = None) -> Ended:
        """Waits for the program's end. Sends it signal `number` before, if given."""
        if number is not None:
            os.kill(self.process, number)
        assert self._child.stdout
        try:
            status = self._child.wait(PROGRAM_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"the program did not end in {PROGRAM_SECONDS} s") from late
        rest = self._child.stdout.read().decode(errors="replace")
        with open(self._errors_path, encoding="utf-8", errors="replace") as file:
            errors = file.read()
        # Process IDs differ between runs.
        output = "".join([*self._lines, rest]).replace(str(self.process), "PROCESS")
        return Ended(status, output, errors)


def plain_end(words: list[str], directory: str, has_second_leak: bool) -> Ended:
    """Runs a waiting program without leaktrace. Returns its outcome."""
    with Waiting(words, directory) as waiting:
        if has_second_leak:
            waiting.leak_again()
        waiting.step()
        return waiting.end()


def differences(expected: Ended, found: Ended) -> list[str]:
    """Returns a complaint for each difference that a user of the program would see."""
    names = ("status", "output", "error output")
    return [
        f"{name}: {there!r}, undisturbed: {here!r}"
        for name, here, there in zip(names, expected.visible, found.visible, strict=True)
        if here != there
    ]


def line_of(source: str, text: str) -> int:
    with open(source, encoding="utf-8") as file:
        found = [number for number, line in enumerate(file, 1) if text in line]
    if len(found) != 1:
        raise Failed(f"{source} has {len(found)} lines with {text!r}")
    return found[0]


class Guest:
    """The checks. Each returns complaints."""

    def __init__(self, command: str, programs: str, sources: str, directory: str) -> None:
        """`programs` has the folders of compiled programs, such as `platform-O`."""
        self._command, self._programs, self._sources, self._directory = command, programs, sources, directory

    def program(self, name: str) -> str:
        return os.path.join(self._programs, name, name.split("-")[0])

    def place(self, name: str) -> str:
        path = os.path.join(self._directory, name)
        os.makedirs(path)
        return path

    def leaktrace(
        self, directory: str, *words: str, statuses: tuple[int, ...] = (0,), limit: int = COMMAND_SECONDS
    ) -> Ended:
        ended = run([self._command, *words], directory, limit)
        if ended.status not in statuses:
            raise Failed(f"{words[0]} ended with {ended.status}: {ended.errors.strip()[-400:]}")
        return ended

    def analysis(self, directory: str, *words: str, statuses: tuple[int, ...] = (0,)) -> dict:
        """Runs a command with JSON output. Returns its only report."""
        text = self.leaktrace(directory, *words, "--format", "json", statuses=statuses).output
        with open(os.path.join(directory, f"{words[0]}.json"), "w", encoding="utf-8") as file:
            file.write(text)
        report: dict = json.loads(text)["reports"][0]
        if report.get("findings") is None:
            raise Failed(f"{words[0]}: no findings: {report.get('findingsUnavailable')}")
        return report

    def judge_platform(self, report: dict, factor: int = 1, has_lines: bool = True, variant: str = "-O") -> list[str]:
        """Returns complaints about verdicts, types, numbers, fields and lines. `factor`: number of calls of `leak`."""
        source = os.path.join(self._sources, "platform.swift")
        counts: dict[tuple[str, str], int] = {}
        lines: dict[tuple[str, str], set[int]] = {}
        complaints = []
        for finding in map(Finding, report["findings"]):
            if finding.is_hidden or finding.is_weak:
                continue
            step = finding.path[0] if finding.path else {}
            key = (finding.verdict, step.get("type") or "")
            counts[key] = counts.get(key, 0) + finding.instances
            lines.setdefault(key, set()).update(
                step["line"] for step in finding.path if os.path.basename(step.get("file") or "") == "platform.swift"
            )
            names = {(each.get("edge") or {}).get("name") for each in finding.path}
            if finding.verdict == "retainCycle" and names != {"next"}:
                complaints.append(f"fields of the cycle: {names}")
        for key in sorted(counts.keys() | PLATFORM.keys()):
            number, text = PLATFORM.get(key, (0, ""))
            expected = number * (1 if key[0] == NOT_REPEATED else factor)
            fewest = expected - (HIDDEN_TASKS[variant] if key[0] == NOT_REPEATED else 0)
            if not fewest <= counts.get(key, 0) <= expected:
                complaints.append(f"{counts.get(key, 0)} of {' '.join(key)}, not {expected}")
            elif has_lines and line_of(source, text) not in lines[key]:
                complaints.append(f"{' '.join(key)}: lines {sorted(lines[key])}, not {line_of(source, text)}")
        return complaints

    # --- recordings

    def recorded(self, variant: str) -> list[str]:
        """`record`: the program's output and status are unchanged, and the findings are right."""
        return self._recorded("recorded", variant, [])

    def light(self, variant: str) -> list[str]:
        """`record --light`."""
        return self._recorded("light", variant, ["--light"])

    def _recorded(self, name: str, variant: str, options: list[str]) -> list[str]:
        place, words = self.place(f"{name}{variant}"), [self.program(f"platform{variant}"), "end"]
        expected = run(words, place)
        found = run([self._command, "record", "--quiet", *options, "-o", "a.trace", "--", *words], place)
        # A light recording has no lines for blocks that were not sampled.
        report = self.analysis(place, "analyze", "a.trace")
        return differences(expected, found) + self.judge_platform(report, has_lines=not options, variant=variant)

    def checked(self) -> list[str]:
        """`check`: status 1 for a program that leaks, and the program's own status for others."""
        place, complaints = self.place("checked"), []
        for case, status in (("cycles", 1), ("arrays", 0)):
            words = [self.program("cases-O"), case]
            expected = run(words, place)
            found = run([self._command, "check", "--", *words], place)
            if found.status != status:
                complaints.append(f"{case}: status {found.status}: {found.errors[-300:]}")
            if expected.output not in found.output:
                complaints.append(f"{case}: output {found.output[-300:]!r}, without {expected.output!r}")
            if (status == 1) != ("Room" in found.output + found.errors):
                complaints.append(f"{case}: {found.output[-300:]}{found.errors[-300:]}")
        return complaints

    def children(self) -> list[str]:
        """`record --follow-children`: each process has a trace, and the program's outcome is unchanged."""
        place, words = self.place("children"), [self.program("cases-O"), "processes"]
        expected = run(words, place)
        found = run([self._command, "record", "--quiet", "--follow-children", "-o", "%p.trace", "--", *words], place)
        traces = [name for name in os.listdir(place) if name.endswith(".trace")]
        complaints = differences(expected, found)
        return complaints + ([] if len(traces) == 4 else [f"{len(traces)} traces of four processes"])

    def controlled(self) -> list[str]:
        """`ps`, `snapshot`, `pause` and `resume` of a recorded program."""
        place, words = self.place("controlled"), [self.program("platform-O"), "wait"]
        expected = plain_end(words, place, has_second_leak=True)
        recording = [self._command, "record", "--quiet", "-o", "a.trace", "--", *words]
        with Waiting(recording, place) as waiting:
            process = str(waiting.process)
            complaints = self._listed(place, process, True)
            self.leaktrace(place, "snapshot", process)
            early = self.analysis(place, "analyze", "a.trace")
            complaints += self.judge_platform(early)
            self.leaktrace(place, "pause", process)
            self.leaktrace(place, "resume", process)
            waiting.leak_again()
            waiting.step()
            complaints += differences(expected, waiting.end())
        return complaints + self.judge_platform(self.analysis(place, "analyze", "a.trace"), factor=2)

    def _listed(self, place: str, process: str, is_recorded: bool) -> list[str]:
        text = self.leaktrace(place, "ps").output
        return [] if (process in text.split()) == is_recorded else [f"ps: {text[-300:]}"]

    # --- from outside

    def attached(self, variant: str) -> list[str]:
        """`attach`, `snapshot` and `detach`: the whole run is undisturbed, and old and new leaks are found."""
        place, words = self.place(f"attached{variant}"), [self.program(f"platform{variant}"), "wait"]
        expected = plain_end(words, place, has_second_leak=True)
        with Waiting(words, place) as waiting:
            process = str(waiting.process)
            self.leaktrace(place, "attach", "-o", "a.trace", process)
            complaints = self._listed(place, process, True)
            waiting.leak_again()
            self.leaktrace(place, "snapshot", process)
            self.leaktrace(place, "detach", process)
            complaints += self._listed(place, process, False)
            waiting.step()
            complaints += differences(expected, waiting.end())
        report = self.analysis(place, "analyze", "a.trace")
        return complaints + self.judge_platform(report, factor=2, has_lines=False, variant=variant)

    def early(self) -> list[str]:
        """`snapshot` while `attach` still works: the image has the objects from before."""
        place, words = self.place("early"), [self.program("platform-O"), "wait"]
        expected = plain_end(words, place, has_second_leak=True)
        with Waiting(words, place) as waiting:
            process = str(waiting.process)
            attach = [self._command, "attach", "-o", "a.trace", process]
            with subprocess.Popen(attach, cwd=place, env=environment(), stderr=subprocess.PIPE, text=True) as attaching:
                tries = 0
                # Requests fail until the recorder is in the process.
                while run([self._command, "snapshot", process], place).status != 0 and tries < EARLY_TRIES:
                    tries += 1
                errors = attaching.communicate(timeout=COMMAND_SECONDS)[1]
            if attaching.returncode != 0:
                raise Failed(f"attach: {attaching.returncode}: {errors[-300:]}")
            self.leaktrace(place, "detach", process)
            waiting.leak_again()
            waiting.step()
            complaints = differences(expected, waiting.end())
        if not 0 < tries < EARLY_TRIES:
            complaints.append(f"{tries} requests failed before the image")
        report = self.analysis(place, "analyze", "a.trace", "--snapshot", "1")
        return complaints + self.judge_platform(report, has_lines=False)

    def joined(self) -> list[str]:
        """`record --pid`, ended by Ctrl-C, twice."""
        place, words = self.place("joined"), [self.program("platform-O"), "wait"]
        expected, complaints = plain_end(words, place, has_second_leak=True), []
        with Waiting(words, place) as waiting:
            for number in range(2):
                complaints += self._join(place, str(waiting.process), f"{number}.trace")
                report = self.analysis(place, "analyze", f"{number}.trace")
                complaints += self.judge_platform(report, has_lines=False)
            waiting.leak_again()
            waiting.step()
            return complaints + differences(expected, waiting.end())

    def _join(self, place: str, process: str, trace: str) -> list[str]:
        words = [self._command, "record", "-o", trace, "--pid", process]
        with subprocess.Popen(words, cwd=place, env=environment(), stderr=subprocess.PIPE, text=True) as recording:
            assert recording.stderr
            # An image cannot stop the threads during the attachment, so wait for the message that recording started.
            line = recording.stderr.readline()
            if "recording process" not in line:
                recording.kill()
                raise Failed(f"record --pid: {line}{recording.stderr.read()[-300:]}")
            self.leaktrace(place, "snapshot", process)
            recording.send_signal(signal.SIGINT)
            errors = recording.communicate(timeout=PROGRAM_SECONDS)[1]
        return [] if recording.returncode == 0 else [f"record --pid: {recording.returncode}: {errors[-300:]}"]

    def inspected(self, variant: str) -> list[str]:
        """`inspect` of a process, with a copy of it and with --hold."""
        place, words = self.place(f"inspected{variant}"), [self.program(f"platform{variant}"), "wait"]
        expected, complaints = plain_end(words, place, has_second_leak=True), []
        with Waiting(words, place) as waiting:
            for options in ([], ["--hold"]):
                report = self.analysis(place, "inspect", str(waiting.process), *options, statuses=(0, 1))
                complaints += self.judge_platform(report, has_lines=False, variant=variant)
                complaints += complaints_on_threads(report)
            waiting.leak_again()
            waiting.step()
            return complaints + differences(expected, waiting.end())

    def core(self, variant: str) -> list[str]:
        """`inspect` of a core file that the kernel wrote."""
        place, words = self.place(f"core{variant}"), [self.program(f"platform{variant}"), "wait"]
        path = os.path.join(place, "core")
        with open("/proc/sys/kernel/core_pattern", "w", encoding="ascii") as file:
            file.write(path)

        with Waiting(words, place, allow_core) as waiting:
            waiting.end(signal.SIGABRT)
        if not os.path.exists(path):
            raise Failed("the kernel wrote no core file")
        report = self.analysis(place, "inspect", path, statuses=(0, 1))
        complaints = self.judge_platform(report, has_lines=False, variant=variant) + complaints_on_threads(report)
        if not complaints:
            os.remove(path)
        return complaints

    def watched(self, way: str) -> list[str]:
        """`watch`: suspects and proven leaks."""
        place, words = self.place(f"watched-{way}"), [self.program("watched-O"), way]
        suspects, proven = WATCHED[way]
        count = PROVEN_IMAGES if proven else WATCHED_IMAGES
        with Waiting(words, place) as waiting:
            options = ["--every", "1s", "--count", str(count), "--format", "json"]
            watch = ["watch", str(waiting.process), *options]
            found = self.leaktrace(place, *watch, statuses=(0, 1), limit=WATCHING_SECONDS)
            ended = waiting.end(signal.SIGHUP)
        with open(os.path.join(place, "watch.json"), "w", encoding="utf-8") as file:
            file.write(found.output)
        report = json.loads(found.output)
        complaints = []
        rows = [f"{row['name']} in {row['holder']}" for row in report["suspects"]]
        titles = [f"{row['verdict']} {row['title']}" for row in report["proven"] if not row["isLibrary"]]
        for name, expected, seen in (("suspects", suspects, rows), ("proven", proven, titles)):
            if expected != seen:
                complaints.append(f"{name}: {seen}, not {expected}")
        if report["imagesTaken"] != count:
            complaints.append(f"{report['imagesTaken']} images: {report['remarks']}")
        if found.status != int(bool(suspects or proven)):
            complaints.append(f"status {found.status}: {found.errors[-300:]}")
        return complaints + differences(Ended(0, "ready PROCESS\n", ""), ended)

    # --- doctor

    def doctor(self) -> list[str]:
        """`doctor`: each feature works, and no file remains."""
        place = self.place("doctor")
        complaints = self._standings(place)
        if left := os.listdir(place):
            complaints.append(f"left behind: {left}")
        with Waiting([self.program("platform-O"), "wait"], place, allow_core) as waiting:
            complaints += self._standings(place, str(waiting.process))
        return complaints

    def _standings(self, place: str, *words: str) -> list[str]:
        ended = self.leaktrace(place, "doctor", "--format", "json", *words, statuses=(0, 1))
        features = {each["feature"]: each for each in json.loads(ended.output)["features"]}
        complaints = [f"no {name}" for name in FEATURES if name not in features]
        return complaints + [
            f"{' '.join(words)} {name}: {each['explanation']}"
            for name, each in features.items()
            if each["standing"] == "fails"
        ]


def complaints_on_threads(report: dict) -> list[str]:
    """Checks that the threads of platform.swift wait in `standInThread`, and that their stacks are complete."""
    threads = report.get("threadStacks") or []
    standing = [
        thread
        for thread in threads
        if any("standInThread" in (frame.get("function") or "") for frame in thread["frames"])
        and thread["stackEnd"] == "complete"
    ]
    if len(standing) == STANDING_THREADS:
        return []
    ends = [(thread["stackEnd"], len(thread["frames"])) for thread in threads]
    return [f"{len(standing)} threads are in standInThread, not {STANDING_THREADS}: {ends}"]


def checks(guest: Guest) -> dict[str, Callable[[], list[str]]]:
    """Returns the checks by name, in the order of their execution."""
    found: dict[str, Callable[[], list[str]]] = {"doctor": guest.doctor}
    for variant in ("-O", "-Onone"):
        for check in (guest.recorded, guest.light, guest.attached, guest.inspected, guest.core):
            found[f"{check.__name__}{variant}"] = functools.partial(check, variant)
    for plain in (guest.checked, guest.children, guest.controlled, guest.early, guest.joined):
        found[plain.__name__] = plain
    for way in WATCHED:
        found[f"watched-{way}"] = functools.partial(guest.watched, way)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the leaktrace command")
    parser.add_argument("--programs", required=True, metavar="DIR", help="folders of compiled programs")
    parser.add_argument("--sources", required=True, metavar="DIR", help="the sources of these programs")
    parser.add_argument("--directory", required=True, metavar="DIR", help="where the checks work")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these checks alone")
    options = parser.parse_args()
    guest = Guest(options.command, options.programs, options.sources, options.directory)
    results = {}
    for name, check in checks(guest).items():
        if options.names and name not in options.names:
            continue
        began = time.monotonic_ns()
        try:
            complaints = check()
        except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as failure:
            complaints = [f"{type(failure).__name__}: {failure}"]
        seconds = (time.monotonic_ns() - began) / NANOSECONDS
        results[name] = {"seconds": round(seconds, 1), "complaints": complaints}
        print(f"{name}: {seconds:.1f} s: {'; '.join(complaints) or 'yes'}", flush=True)
        with open(os.path.join(options.directory, "results.json"), "w", encoding="utf-8") as file:
            json.dump(results, file)
    return 1 if any(each["complaints"] for each in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
