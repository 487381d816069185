"""The result of a trial. A trial prepares a subject, records it, and judges the findings."""

import dataclasses
import datetime

from . import judgements

SUITE, TWINS, TOOLCHAIN, QUIET = "suite", "twins", "toolchain", "quiet"


@dataclasses.dataclass
class Result:
    """One row of the page: all runs of a subject together."""

    name: str
    kind: str
    detail: str  # the version, or a description of the program
    tests: int = 0
    blocks: int = 0
    weak_suspicions: int = 0
    record_seconds: float = 0.0
    analyze_seconds: float = 0.0
    analyze_bytes: int = 0
    trace_bytes: int = 0
    remarks: list = dataclasses.field(default_factory=list)
    causes: list = dataclasses.field(default_factory=list)
    has_failed: bool = False

    def add(self, recording, analysis):
        """Adds the figures of a run. Returns its findings."""
        self.record_seconds += recording.seconds
        self.analyze_seconds += analysis.outcome.seconds
        self.analyze_bytes = max(self.analyze_bytes, analysis.outcome.peak_bytes)
        self.trace_bytes += analysis.trace_bytes
        self.blocks += analysis.allocated_blocks
        self.weak_suspicions += analysis.weak_suspicions
        if recording.is_by_another_version:
            self.remarks.append(f"The trace was recorded by leaktrace {recording.recorder} and analysed again.")
        if analysis.reason:
            self.fail(analysis.reason)
        self.remarks += [remark for remark in analysis.remarks if remark not in self.remarks]
        return analysis.findings

    def fail(self, reason):
        self.has_failed = True
        self.remarks.append(reason)

    def judge(self, findings, subject=None):
        self.causes = judgements.judge(findings, judgements.read(subject or self.name))

    def plain(self):
        """Returns the values for results.json."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "causes"}
        for name in ("record_seconds", "analyze_seconds"):
            values[name] = round(values[name], 1)
        values["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        values["causes"] = [
            {
                "judgement": cause.judgement,
                "why": cause.why,
                "known": cause.known,
                "findings": [
                    {
                        "verdict": finding.verdict,
                        "certainty": finding.certainty,
                        "subject": finding.subject,
                        "place": finding.place,
                        "evidence": finding.evidence(),
                        "instances": finding.instances,
                        "fingerprint": finding.fingerprint,
                        "library": finding.is_library,
                    }
                    for finding in cause.findings
                ],
            }
            for cause in self.causes
        ]
        return values
