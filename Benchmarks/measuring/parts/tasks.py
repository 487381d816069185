"""Time of `leaktrace tasks` for the recording of a program with many tasks, and for the live process."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from ..figures import Series, grouped, table
from ..heap_process import HeapProcess
from ..part import About, Bench, Figure, SummarisedPart
from ..processes import FailedRun, run
from ..records import Mark
from ..rounds import say

TASKS = 100_000
QUICK_TASKS = 2_000
FORMATS = ("text", "json")


@dataclass
class ListUse:
    wall: Series
    processor: Series
    peak: Series


@dataclass
class TasksResult:
    tasks: int
    others: Series
    lists: Annotated[dict[str, ListUse], Mark.INLINED]  # by "source, format"


class Tasks(SummarisedPart[TasksResult]):
    name = "tasks"
    heading = "# Lists of tasks"
    result = TasksResult

    def measure(self, bench: Bench) -> TasksResult:
        tasks = QUICK_TASKS if bench.is_quick else TASKS
        program = [bench.programs.path("many-tasks"), str(tasks)]
        trace = bench.file("tasks.trace")
        say(f"recording {tasks} tasks")
        run([bench.tool, "record", "--quiet", "-o", trace, "--", *program], bench.directory)
        result = TasksResult(tasks, Series(), {})
        with HeapProcess(program, bench.directory) as process:
            process.expect("waiting")
            sources = {"recording": trace, "process": str(process.find(program[0]))}
            for number in range(bench.rounds + 1):
                for source, target in sources.items():
                    for form in FORMATS:
                        say(f"tasks of the {source} as {form}, round {number}")
                        # The first round is a warm-up.
                        _list(bench, target, form, result, f"{source}, {form}" if number > 0 else None)
        os.unlink(trace)
        return result

    def figures(self, result: TasksResult) -> Iterable[Figure]:
        for name, use in result.lists.items():
            yield Figure(f"list of {grouped(result.tasks)} tasks: {name}", use.wall.median, unit=" s", digits=1)

    def markdown(self, result: TasksResult, about: About) -> str:
        rows = [
            [name, use.wall.text(), use.processor.text(), f"{max(use.peak.values) / 1e6:.0f}"]
            for name, use in result.lists.items()
        ]
        return "\n\n".join(
            [
                self.heading,
                about.line(),
                f"`leaktrace tasks` lists the {grouped(result.tasks)} tasks of a program, from its recording and from "
                "the live process. Each task waits for a continuation. One array holds all continuations. Every list "
                "has all of these tasks. Times are in seconds. *Peak* is the largest resident size of any round. Other "
                f"processes kept at most {max(result.others.values):.2f} processors busy.",
                table(["", "wall", "processor", "peak MB"], rows),
            ]
        )


def _list(bench: Bench, target: str, form: str, result: TasksResult, name: str | None) -> None:
    found = run([bench.tool, "tasks", "--format", form, target], bench.directory)
    listed = json.loads(found.output)["states"]["waiting"] if form == "json" else None
    if listed not in (None, result.tasks) or (form == "text" and f"{result.tasks:,} waiting" not in found.output):
        raise FailedRun(f"the list of tasks lacks some of {result.tasks} tasks:\n{found.output[:1000]}")
    if name is None:
        return
    result.others.add(found.others)
    use = result.lists.setdefault(name, ListUse(Series(), Series(), Series()))
    use.wall.add(found.wall)
    use.processor.add(found.processor)
    use.peak.add(found.peak)
