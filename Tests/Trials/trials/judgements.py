"""Reads people's judgements of findings: true, a library's, or false. They come from reading the programs' sources.

Each file of judgements/ is about one subject. It is a list of entries, one for each cause:

    verdict    a verdict or a list of verdicts
    mentions   patterns; each must match a type, function, file, reference or holder of the finding
    judgement  true, library or false
    why        the reason, for readers
    known      only for leaks that must be found: who knows of the leak
"""

import dataclasses
import json
import os

DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "judgements")
TRUE, LIBRARY, FALSE, OPEN = "true", "library", "false", "unjudged"
ALL = (TRUE, LIBRARY, FALSE, OPEN)
# The reason of findings that the report attributes to a library, if no entry is about them. results.json contains it.
UNJUDGED_LIBRARY = "Told as a library's."


@dataclasses.dataclass
class Judgement:
    """One entry: a cause, and whether its findings are right."""

    verdicts: tuple
    mentions: tuple
    judgement: str
    why: str
    known: str

    @classmethod
    def read(cls, values, path):
        verdicts = values["verdict"] if isinstance(values["verdict"], list) else [values["verdict"]]
        if values["judgement"] not in (TRUE, LIBRARY, FALSE):
            raise ValueError(f"{path}: no such judgement: {values['judgement']}")
        return cls(
            tuple(verdicts), tuple(values["mentions"]), values["judgement"], values["why"], values.get("known", "")
        )

    def is_about(self, finding):
        return finding.verdict in self.verdicts and all(finding.mentions(pattern) for pattern in self.mentions)


@dataclasses.dataclass
class Cause:
    """All findings that match one judgement, or a single unjudged finding."""

    judgement: str
    why: str
    known: str
    findings: list


# The file of judgements about the toolchain's libraries, for any subject.
COMMON = "toolchain-libraries"


def read(subject):
    """Returns the judgements of a subject, then the common judgements. The first that matches a finding applies."""
    found = []
    for name in (subject, COMMON):
        path = os.path.join(DIRECTORY, f"{name}.json")
        if os.path.exists(path):
            with open(path) as file:
                found += [Judgement.read(values, path) for values in json.load(file)]
    return found


def judge(findings, judgements):
    """Sorts findings by cause. A missed known leak is a cause without findings."""
    causes = {index: Cause(each.judgement, each.why, each.known, []) for index, each in enumerate(judgements)}
    unjudged = []
    for finding in findings:
        index = next((index for index, each in enumerate(judgements) if each.is_about(finding)), None)
        if index is not None:
            causes[index].findings.append(finding)
        elif finding.is_library:
            unjudged.append(Cause(LIBRARY, UNJUDGED_LIBRARY, "", [finding]))
        else:
            unjudged.append(Cause(OPEN, "", "", [finding]))
    return [cause for cause in causes.values() if cause.findings or cause.known] + unjudged
