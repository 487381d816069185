"""Fits the points of the rules about suspicions to recorded programs, in steps."""

import concurrent.futures
import dataclasses
import os
import subprocess

from .processes import FailedCommand

# The goals are at most 1 accused and 3 missed runs in 100, so an accused run costs 3 times as much. Verdicts about the
# corpus are right already, so a change there costs most.
COSTS = {"accused": 3, "missed": 1, "corpus": 5}


@dataclasses.dataclass(frozen=True)
class Recording:
    """A recorded program, and the types that its suspicions must name."""

    trace: str
    is_held_back: bool
    leaks: bool
    types: tuple[str, ...]
    is_settled: bool = False  # a proof names the leak, or the run is of the corpus


@dataclasses.dataclass
class Judgement:
    """Titles of the listed suspicions of each recording."""

    usual: dict[str, tuple[str, ...]]  # with the current points, by trace
    moved: dict[tuple[str, str], dict[str, tuple[str, ...]]]  # by changed point and its value, then by trace


def judge(tool, settings, traces, jobs, mode="--points"):
    """Lets the tool judge all traces. It also tries other values of each point, unless `mode` is `--listed`.
    `settings`: points that differ from the rules."""
    arguments = [tool, mode, *(f"{name}={value}" for name, value in settings.items())]
    parts = [part for start in range(jobs * 8) if (part := traces[start :: jobs * 8])]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outputs = list(pool.map(lambda part: _output([*arguments, *part]), parts))
    judgement = Judgement({}, {})
    for line in "".join(outputs).splitlines():
        kind, *fields = line.split("\t")
        if kind == "listed":
            judgement.usual[fields[0]] = tuple(filter(None, fields[1:]))
        elif kind == "move":
            name, value, trace, *titles = fields
            judgement.moved.setdefault((name, value), {})[trace] = tuple(filter(None, titles))
    return judgement


def _output(command):
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode != 0:
        raise FailedCommand(f"{command[0]}: {outcome.stderr.strip()[-400:]}")
    return outcome.stdout


def cost(recording, titles, wanted):
    """Returns the cost of a recording's suspicions. `wanted`: its titles before the fit, if it is of the corpus."""
    if recording.is_settled:
        return 0 if wanted is None or titles == wanted else COSTS["corpus"]
    if not recording.leaks:
        return COSTS["accused"] if titles else 0
    return 0 if any(name in title for name in recording.types for title in titles) else COSTS["missed"]


def total(recordings, listed, wanted):
    return sum(
        cost(each, listed.get(os.path.basename(each.trace), ()), wanted.get(os.path.basename(each.trace)))
        for each in recordings
    )


def fit(tool, recordings, steps, jobs, say):
    """Changes one point at a time, as long as the cost of the recordings in view decreases. Returns the settings and
    the history. Each entry has the points, the cost in view, and the cost of recordings that are held back."""
    fitted = [each for each in recordings if not each.is_held_back]
    others = [each for each in recordings if each.is_held_back]
    settings: dict[str, str] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    history = []
    for step in range(steps + 1):
        judgement = judge(tool, settings, [each.trace for each in fitted], jobs)
        unseen = judge(tool, settings, [each.trace for each in others], jobs, "--listed")
        if step == 0:
            names = {os.path.basename(each.trace) for each in recordings if each.is_settled}
            wanted = {name: titles for name, titles in judgement.usual.items() if name in names}
        now = total(fitted, judgement.usual, wanted)
        history.append((dict(settings), now, total(others, unseen.usual, wanted)))
        say(f"step {step}: {settings or 'the points as they are'}: {now}, held back {history[-1][2]}")
        best = min(
            (
                (total(fitted, {**judgement.usual, **changed}, wanted), name, value)
                for (name, value), changed in judgement.moved.items()
            ),
            default=(now, "", ""),
        )
        if best[0] >= now:
            break
        settings[best[1]] = best[2]
    return settings, history
