import json
import os
import re
import tempfile
import unittest
from typing import Any

from measuring.figures import Series
from measuring.part import REPOSITORY, About
from measuring.parts import PARTS
from measuring.parts.exports import FORMATS
from measuring.parts.lengths import Lengths, LengthsResult, ResidentMemory
from measuring.parts.light import LIGHT, LightWorkload
from measuring.parts.light_alone import LightAlone, LightAloneResult
from measuring.parts.scaling import Point, Scaling, ScalingResult
from measuring.parts.snapshots import instances_by_kind
from measuring.parts.tasks import ListUse, Tasks, TasksResult
from measuring.parts.threads import ThreadsResult
from measuring.processes import FailedRun, run
from measuring.recorders import Heaptrack, Leaktrace, Untraced, Workload, shown_command
from measuring.rounds import Measurement
from measuring.summary import aim_of


class PartTests(unittest.TestCase):
    def test_each_part_is_registered_once(self) -> None:
        for names in ([part.name for part in PARTS], [part.heading for part in PARTS]):
            self.assertEqual(len(names), len(set(names)))

    def test_a_list_of_tasks_has_an_aim_for_its_time(self) -> None:
        use = ListUse(Series([2.0, 4.0, 3.0]), Series([1.0]), Series([1.0]))
        (figure,) = Tasks().figures(TasksResult(100_000, Series([0.0]), {"process, text": use}))
        with open(os.path.join(REPOSITORY, "Benchmarks", "aims.json")) as file:
            aim = aim_of(figure, json.load(file))
        self.assertEqual(figure.value, 3.0)
        self.assertTrue(aim and not aim.is_minimum and aim.limit == 5)

    def test_memory_added_is_the_maximum_over_all_lengths(self) -> None:
        runs = {
            "churn 1": {"untraced": ResidentMemory(100, 100), "leaktrace --arc off": ResidentMemory(3_000_100, 0)},
            "churn 2": {"untraced": ResidentMemory(100, 100), "leaktrace --arc off": ResidentMemory(4_000_100, 0)},
        }
        runs = {title: {**ways, "leaktrace --arc stacks": ways["untraced"]} for title, ways in runs.items()}
        figures = list(Lengths().figures(LengthsResult(runs)))
        self.assertEqual([figure.value for figure in figures], [4.0, 0.0])
        self.assertTrue(all(figure.peer is None for figure in figures))

    def test_overhead_of_many_threads_is_relative_to_one_thread(self) -> None:
        def measured(seconds: float) -> Measurement:
            return Measurement(wall=Series([seconds]), processor=Series([seconds]))

        result = ThreadsResult(
            [],
            {
                "1": {"untraced": measured(1), "traced": measured(2)},
                "8": {"untraced": measured(1), "traced": measured(3)},
            },
        )
        self.assertEqual(result.ratio_to_one_thread("8", "traced"), 1.5)

    def test_an_interval_leaves_out_as_many_ratios_as_the_sign_test_allows(self) -> None:
        ones = Series([1.0] * 20)
        self.assertEqual(Series(map(float, range(1, 21))).ratio_interval(ones), (6.0, 15.0))
        self.assertEqual(Series(map(float, range(1, 7))).ratio_interval(ones), (1.0, 6.0))
        self.assertEqual(Series([3.0, 1.0, 2.0]).ratio_interval(ones), (1.0, 3.0))

    def test_a_light_recording_is_relative_to_the_untraced_run(self) -> None:
        ways = {
            name: Measurement(wall=Series(seconds), processor=Series(seconds))
            for name, seconds in (("untraced", [1.0, 2.0, 4.0]), (LIGHT, [1.5, 2.0, 5.0]))
        }
        figures = list(LightAlone().figures(LightAloneResult(3, [LightWorkload("churn", "churn 1", ways)])))
        self.assertEqual([(figure.value, figure.peer) for figure in figures], [(1.25, None)])

    def test_a_diagram_has_all_points_of_its_lines(self) -> None:
        points = [
            Point(f"churn {events}", events, 3, 1, Series([2.0, 1.0, 4.0]), Series([1.0]), Series([5e6, 7e6]))
            for events in (1_000, 10_000)
        ]
        time, memory = Scaling().plots(ScalingResult({"events": points}))
        self.assertIn("1000.0 2.0\n10000.0 2.0\ne\n", time.script("a.svg"))
        self.assertIn("1000.0 7.0\n10000.0 7.0\ne\n", memory.script("a.svg"))
        text = Scaling().markdown(ScalingResult({"events": points}), About("", "", {"leaktrace": "1"}))
        self.assertIn(f"(plots/{time.file})", text)
        self.assertIn(f"(plots/{memory.file})", text)

    def test_time_and_memory_of_many_events_are_relative_to_few_events(self) -> None:
        few = Point("few", 1_000, 3, 1, Series([1.0]), Series([1.0]), Series([5e6]))
        many = Point("many", 10_000, 3, 1, Series([20.0]), Series([1.0]), Series([6e6]))
        figures = Scaling().figures(ScalingResult({"events": [few, few, many]}))
        self.assertEqual([figure.value for figure in figures], [2.0, 1.2])

    def test_each_export_format_is_measured(self) -> None:
        with open(os.path.join(REPOSITORY, "Sources", "leaktrace", "ExportCommand.swift")) as file:
            cases = re.search(r"enum ExportFormat:.*?\n  case ([^\n]+)", file.read(), re.DOTALL)
        self.assertIsNotNone(cases)
        self.assertEqual(sorted(cases[1].split(", ") if cases else []), sorted(FORMATS))

    def test_findings_of_the_heap_are_grouped_by_kind_of_leak(self) -> None:
        def finding(instances: int, *, is_cycle: bool, kinds: tuple[str, ...], type_name: str) -> dict[str, Any]:
            path = [{"type": type_name, "kind": kind} for kind in kinds]
            return {"isCycle": is_cycle, "path": path, "instances": instances}

        found = instances_by_kind(
            [
                finding(1, is_cycle=True, kinds=("object", "closure"), type_name="Account"),
                finding(2, is_cycle=True, kinds=("object",), type_name="Account"),
                finding(3, is_cycle=False, kinds=("object",), type_name="Account"),
                finding(4, is_cycle=True, kinds=("closure",), type_name="Timer"),
                finding(5, is_cycle=True, kinds=("object",), type_name="Account"),
            ]
        )
        self.assertEqual(found, {"closures": [1], "partners": [2, 5], "counts": [3], "other": [4]})


class RunTests(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp()

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.directory, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def test_a_command_that_fails_gives_no_figure(self) -> None:
        self.assertEqual(run(["echo", "done"], self.directory).output, "done\n")
        with self.assertRaisesRegex(FailedRun, "exit status 3\nreason"):
            run(["sh", "-c", "echo reason >&2; exit 3"], self.directory)

    def test_another_output_of_a_workload_is_a_failure(self) -> None:
        workload = Workload("churn", "churn", [])
        Untraced().check(workload, "42\n", self.directory)
        with self.assertRaises(FailedRun):
            Untraced().check(workload, "43\n", self.directory)
        with self.assertRaisesRegex(FailedRun, "the program's output is missing"):
            Heaptrack().check(workload, "heaptrack stats\n", self.directory)

    def test_a_trace_that_lacks_events_is_a_failure(self) -> None:
        lines = {
            "whole": ("7 closing reason=exit time=1 events=1000 drops=0,0,0,2,3", None),
            "killed": ("7 closing reason=recovered time=1 events=1000 drops=0,0,0,0,0", "not closed at exit"),
            "dropped": ("7 closing reason=exit time=1 events=1000 drops=0,4,0,0,0", "events were dropped"),
        }
        for name, (line, reason) in lines.items():
            with self.subTest(name=name):
                way = Leaktrace(self.write("leaktrace", f"#!/bin/sh\necho '{line}'\n"), "off")
                with open(way.trace(self.directory), "w") as file:
                    file.write("12345")
                if reason:
                    with self.assertRaisesRegex(FailedRun, reason):
                        way.facts(self.directory)
                else:
                    facts = way.facts(self.directory)
                    self.assertEqual((facts.bytes, facts.events, facts.cut_stacks), (5, 1000, 5))

    def test_shown_commands_are_short_enough_to_type(self) -> None:
        shown = [shown_command(way, "churn 1") for way in ("untraced", "leaktrace --arc off", "heaptrack")]
        self.assertEqual(
            shown, ["churn 1", "leaktrace record --no-names --arc off -o FILE -- churn 1", "heaptrack -o FILE churn 1"]
        )
