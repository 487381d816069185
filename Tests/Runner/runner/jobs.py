"""The tests as jobs: a process each."""

import collections
import dataclasses
import re

END_TO_END = "ProgramTests"

# Suites that share what takes long to make, such as recordings of the whole corpus. Each line is one process.
TOGETHER = [
    ["CorpusTests", "RetainBalanceTests", "AdviceTests"],
    ["PairTests", "UnchangedPairTests"],
]

# Suites that take longest, those that wait for most of that time among them. They begin first, so that none of them is
# alone at the end.
FIRST = ["LightSeriesTests", "CorpusTests", "WatchTests", "ScopeTests", "LightRecordingTests", "InspectionTests"]
FIRST += ["PairTests", "FleetTests", "ExportCommandTests", "DiffCommandTests", "RepetitionTests", "ServerTests"]


@dataclasses.dataclass(frozen=True)
class Job:
    """Tests that run in one process."""

    name: str
    # Regular expression for the identifiers of its tests.
    pattern: str
    count: int


def jobs(identifiers: list[str]) -> list[Job]:
    """Returns jobs that run every test once, those that should begin first at the front.

    `identifiers` has a line for each test, as the test program lists them: TARGET.SUITE/FUNCTION. Each suite of the
    end-to-end tests is a job. Each other target is a job.
    """
    together = {name: names[0] for names in TOGETHER for name in names}
    members: dict[str, list[str]] = collections.defaultdict(list)
    for identifier in identifiers:
        target, _, rest = identifier.partition(".")
        name = target
        if target == END_TO_END and "/" in rest:
            suite = rest.split("/")[0]
            name = together.get(suite, suite)
        members[name].append(identifier)

    def rank(job: Job) -> tuple[int, int]:
        return (FIRST.index(job.name) if job.name in FIRST else len(FIRST), -job.count)

    found = [Job(name, _pattern(chosen), len(chosen)) for name, chosen in members.items()]
    return sorted(found, key=rank)


def _pattern(identifiers: list[str]) -> str:
    """A regular expression for exactly these tests. The source location follows a test's identifier."""
    return "^(?:" + "|".join(re.escape(identifier) for identifier in identifiers) + ")(?:/|$)"
