"""Tries programs of this repository that use public packages, each with a known leak and without it. The servers talk
to themselves over loopback, and then end."""

import os

from .finding import Finding
from .packages import build, product
from .trial import TWINS, Result

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Programs")


class Twin:
    """One program in one form, `leak` or `clean`. It runs several times, to show whether findings depend on chance."""

    def __init__(self, values, form, cache):
        self.product, self.form = values["product"], form
        self.name = f"{self.product} {form}"
        self.detail = values["what"][form]
        self.rounds = values.get("rounds", 3)
        self._scratch = os.path.join(cache, "programs")

    def trial(self, leaktrace, directory, jobs):
        traces = [
            os.path.join(directory, f"{self.product}-{self.form}-{number}.trace") for number in range(self.rounds)
        ]
        program = self.product
        if not all(map(leaktrace.is_kept, traces)):
            flags = ("--scratch-path", self._scratch, "--configuration", "release")
            build(SOURCES, jobs, flags)
            program = product(SOURCES, self.product, flags)
        result = Result(self.name, TWINS, self.detail, tests=0)
        findings: list[Finding] = []
        shapes = set()
        for trace in traces:
            recording = leaktrace.record([program, self.form], trace, limit=300)
            if recording.status != 0:
                result.fail(f"ended with status {recording.status}: {recording.output.strip()[-200:]}")
                break
            found = result.add(recording, leaktrace.analyze(trace))
            shapes.add(tuple(sorted((each.verdict, each.subject) for each in found if not each.is_library)))
            findings += [
                each
                for each in found
                if all((each.verdict, each.subject) != (other.verdict, other.subject) for other in findings)
            ]
        if len(shapes) > 1:
            result.remarks.append(f"the findings are not the same in {self.rounds} runs")
        result.judge(findings, self.name.replace(" ", "-"))
        return result
