"""What people found about findings by reading the programs' sources: real, a library's, or false.

A file of judgements/ is about one subject: a list of entries, each about one cause.

    verdict    the verdict, or a list of verdicts, that the entry is about
    mentions   patterns, each of which a type, function, file, reference or holder of the finding matches
    judgement  true, library or false
    why        what it is, for people
    known      for a leak that has to be found: where it is known from
"""

import dataclasses
import json
import os

DIRECTORY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "judgements")
TRUE, LIBRARY, FALSE, OPEN = "true", "library", "false", "unjudged"
ALL = (TRUE, LIBRARY, FALSE, OPEN)


@dataclasses.dataclass
class Judgement:
    """One cause, and what it was found to be."""

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
    """The findings that are about one judgement, or a single one that nobody has judged."""

    judgement: str
    why: str
    known: str
    findings: list


# Judgements for any program: findings in the toolchain's libraries.
COMMON = "toolchain-libraries"


def read(subject):
    """The judgements on a subject, and after them those on any."""
    found = []
    for name in (subject, COMMON):
        path = os.path.join(DIRECTORY, f"{name}.json")
        if os.path.exists(path):
            with open(path) as file:
                found += [Judgement.read(values, path) for values in json.load(file)]
    return found


def judge(findings, judgements):
    """Sorts findings by cause. Known leaks of which there is no finding come as causes without findings."""
    causes = {index: Cause(each.judgement, each.why, each.known, []) for index, each in enumerate(judgements)}
    unjudged = []
    for finding in findings:
        index = next((index for index, each in enumerate(judgements) if each.is_about(finding)), None)
        if index is not None:
            causes[index].findings.append(finding)
        elif finding.is_library:
            unjudged.append(Cause(LIBRARY, "Told as a library's.", "", [finding]))
        else:
            unjudged.append(Cause(OPEN, "", "", [finding]))
    return [cause for cause in causes.values() if cause.findings or cause.known] + unjudged
