"""Runs the leaktrace command to record, check and analyse programs."""

import dataclasses
import json
import os

from .finding import Finding
from .processes import Outcome, run

# Statuses of a successful `analyze`. Status 4: only a part of the trace was readable.
DONE = (0, 4)


@dataclasses.dataclass
class Analysis:
    """The outcome of `analyze` for one trace."""

    outcome: Outcome
    trace_bytes: int
    report: dict | None  # None if it failed

    @property
    def has_failed(self):
        return self.report is None

    @property
    def reason(self):
        """Why there are no findings to judge, or an empty string."""
        if self.report is None:
            if self.outcome.timed_out:
                return "analyze did not end in time"
            return f"analyze ended with status {self.outcome.status}: {self.outcome.output.strip()[-200:]}"
        if self.report.get("findings") is None:
            return self.report.get("findingsUnavailable") or "the report has no findings"
        return ""

    @property
    def findings(self):
        """The listed findings of the program and of libraries, without hidden ones and weak suspicions."""
        return [finding for finding in self._all if not finding.is_hidden and not finding.is_weak]

    @property
    def weak_suspicions(self):
        """The number of weak suspicions."""
        return sum(finding.is_weak and not finding.is_hidden for finding in self._all)

    @property
    def _all(self):
        return map(Finding, (self.report or {}).get("findings") or [])

    @property
    def remarks(self):
        return (self.report or {}).get("findingRemarks") or []

    @property
    def allocated_blocks(self):
        return ((self.report or {}).get("total") or {}).get("allocatedBlocks", 0)

    @property
    def program(self):
        traces = (self.report or {}).get("traces") or [{}]
        return traces[0].get("program", "")


@dataclasses.dataclass
class Recording(Outcome):
    """The outcome of a recorded run, and the version that recorded it."""

    recorder: str = ""
    is_by_another_version: bool = False


def _run_of(trace):
    """Returns the path of the file with the outcome of the recorded run."""
    return f"{trace}.run"


class Leaktrace:
    """The command with its library, in the directory `products`. `recorder`: the version that records.
    `takes_kept_traces`: uses existing traces instead of recording again."""

    def __init__(self, products, recorder="", takes_kept_traces=False):
        self.command = os.path.join(products, "leaktrace")
        self._recorder = recorder
        self._takes_kept_traces = takes_kept_traces
        if not os.access(self.command, os.X_OK):
            raise FileNotFoundError(f"{self.command} is not there; scripts/build makes it")

    def record(self, command, trace, directory=None, limit=600, options=(), **more):
        """Records `command`, and stores the outcome in a file beside the trace. `trace`: a path, or a pattern if
        children are followed."""
        if self.is_kept(trace):
            with open(_run_of(trace)) as file:
                values = json.load(file)
            return Recording(**values, is_by_another_version=values["recorder"] != self._recorder)
        outcome = run(
            [self.command, "record", "--quiet", "-o", trace, *options, "--", *command],
            directory=directory,
            limit=limit,
            **more,
        )
        values = {**dataclasses.asdict(outcome), "recorder": self._recorder}
        with open(_run_of(trace), "w") as file:
            json.dump(values, file)
        return Recording(**values)

    def is_kept(self, trace):
        """Returns whether `record` would use the existing trace."""
        return self._takes_kept_traces and os.path.exists(_run_of(trace))

    def check(self, command, directory=None, limit=600, options=(), **more):
        return run([self.command, "check", *options, "--", *command], directory=directory, limit=limit, **more)

    def analyze(self, trace, limit=3600, options=()):
        if not os.path.exists(trace):
            return Analysis(Outcome(-1, "there is no trace", 0.0, 0, False), 0, None)
        report = trace + ".json"
        # The report goes to its own file, separate from standard error.
        outcome = run(
            [
                "/bin/sh",
                "-c",
                'exec "$@" >"$0"',
                report,
                self.command,
                "analyze",
                "--format",
                "json",
                "--limit",
                "1",
                *options,
                trace,
            ],
            limit=limit,
        )
        try:
            with open(report) as file:
                reports = json.load(file)["reports"] if outcome.status in DONE else []
        except (OSError, ValueError, KeyError):
            reports = []
        return Analysis(outcome, os.path.getsize(trace), reports[0] if len(reports) == 1 else None)
