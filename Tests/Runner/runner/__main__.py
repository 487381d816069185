"""Runs the built tests in several processes, prints what fails as it fails, and the time of each suite at the end."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from . import jobs, results

# Seconds until a process counts as hanging. The longest suite, which builds packages, takes some minutes.
HANGS_AFTER = 3600
# The test program colors its output whatever reads it.
COLOR = re.compile("\x1b\\[[0-9;]*m")
# Suites and tests that the summary names. The reports beside the logs have all.
SHOWN = 20


class Run:
    """The processes that run, and what they have said."""

    def __init__(self, program: str, logs: pathlib.Path):
        self.program = program
        self.logs = logs
        self.lock = threading.Lock()
        self.results: list[results.Result] = []
        self.failures: list[str] = []

    def say(self, line: str) -> None:
        with self.lock:
            print(line, flush=True)

    def listed(self, chosen: list[str], skipped: list[str]) -> list[str]:
        """The tests that match one of the patterns in `chosen`, or all, and none of those in `skipped`."""
        command = [self.program, "--testing-library", "swift-testing", "--list-tests"]
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[:-1]
        matching = [line for line in lines if not chosen or any(re.search(pattern, line) for pattern in chosen)]
        return [line for line in matching if not any(re.search(pattern, line) for pattern in skipped)]

    def run(self, job: jobs.Job) -> None:
        """Runs a job to its end. Notes what failed: tests, the process itself, or tests that did not run."""
        began = time.monotonic()
        report = self.logs / f"{job.name}.xml"
        report.unlink(missing_ok=True)
        command = [self.program, "--testing-library", "swift-testing", "--no-parallel"]
        command += ["--filter", job.pattern, "--xunit-output", str(report)]
        tail: list[str] = []
        with (self.logs / f"{job.name}.log").open("w") as log:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            hangs = threading.Timer(HANGS_AFTER, os.killpg, (process.pid, signal.SIGKILL))
            hangs.start()
            assert process.stdout
            follows = False
            for colored in process.stdout:
                line = COLOR.sub("", colored)
                log.write(line)
                tail = [*tail[-9:], line.rstrip("\n")]
                # A test's messages about a failure are in the lines after it.
                follows = line.startswith("✘") or (follows and line.startswith("↳"))
                if follows or line.startswith("tests are skipped:"):
                    self.say(line.rstrip("\n"))
            status = process.wait()
            hangs.cancel()
        # The file is complete once the process has ended: it has no result of a process that crashed.
        found = results.read(report)
        seconds = time.monotonic() - began
        with self.lock:
            self.results += found
        failed = [result.name for result in found if result.outcome == "failed"]
        if status < 0:
            self.failures.append(f"{job.name}: ended by signal {-status}")
            self.say(f"✘ Test process {job.name} ended by signal {-status}. It said last:\n" + "\n".join(tail))
        elif status != 0 and not failed:
            self.failures.append(f"{job.name}: exit status {status}")
            self.say(f"✘ Test process {job.name} ended with status {status}. It said last:\n" + "\n".join(tail))
        self.failures += [f"{job.name}: {name}" for name in failed]
        if status == 0 and len(found) < job.count:
            self.failures.append(f"{job.name}: {len(found)} of {job.count} tests ran")
            self.say(f"✘ Test process {job.name} ran {len(found)} of {job.count} tests")
        ran = sum(result.outcome != "skipped" for result in found)
        if ran:
            self.say(f"test: {job.name}: {ran} {'test' if ran == 1 else 'tests'}, {seconds:.1f} s")

    def summarize(self) -> int:
        for name, seconds, count in results.suites(self.results)[:SHOWN]:
            print(f"test: {seconds:7.1f} s  {name} ({count} {'test' if count == 1 else 'tests'})")
        print("test: the slowest tests:")
        for result in results.slowest(self.results, SHOWN):
            print(f"test: {result.seconds:7.1f} s  {result.suite}/{result.name}")
        if self.failures:
            print("test: what failed:")
            for failure in self.failures:
                print(f"test:   {failure}")
        totals = {outcome: 0 for outcome in ("passed", "failed", "skipped")}
        for result in self.results:
            totals[result.outcome] += 1
        failed = max(totals["failed"], len(self.failures))
        print(f"test: {totals['passed']} passed, {failed} failed, {totals['skipped']} skipped", flush=True)
        return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test", description=__doc__)
    parser.add_argument("--program", required=True, help="the built tests")
    parser.add_argument("--logs", required=True, type=pathlib.Path, help="where each process's output goes")
    parser.add_argument("--processes", type=int, default=2 * (os.cpu_count() or 1), help="at one time")
    parser.add_argument("--filter", action="append", default=[], help="regular expression for the tests to run")
    parser.add_argument("--skip", action="append", default=[], help="regular expression for tests not to run")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)
    run = Run(options.program, options.logs)
    identifiers = run.listed(options.filter, options.skip)
    if not identifiers:
        print("test: no test has such a name", file=sys.stderr)
        return 1
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        for finished in [pool.submit(run.run, job) for job in jobs.jobs(identifiers)]:
            finished.result()
    return run.summarize()


if __name__ == "__main__":
    sys.exit(main())
