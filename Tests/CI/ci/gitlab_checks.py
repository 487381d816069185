"""Runs the GitLab template: what it uploads, and how its job ends."""

import json
import xml.etree.ElementTree as ElementTree

from ci.fixture import SCRIPTS, SOURCE, RunnerCase, problems, second_tier
from ci.gitlab import JobResult, JobTemplate
from ci.release import REPOSITORY as ROOT


class TemplateTests(RunnerCase):
    def setUp(self) -> None:
        super().setUp()
        self.template = JobTemplate(SCRIPTS / "ci" / "gitlab" / "leaktrace.gitlab-ci.yml", ".leaktrace")

    def run_job(self, command: str, **variables: str | None) -> JobResult:
        defaults = {
            "LEAKTRACE_COMMAND": command,
            "LEAKTRACE_SOURCE": str(self.release.folder),
            "LEAKTRACE_VERSION": self.release.version,
            "LEAKTRACE_OPTIONS": f"--source-root '{ROOT}'",
        }
        given = {f"LEAKTRACE_{name.upper()}": value for name, value in variables.items()}
        # None leaves a variable unset.
        merged = {name: value for name, value in {**defaults, **given}.items() if value is not None}
        return self.template.run(merged, self.workspace)

    def test_the_file_is_valid_by_the_schema_of_pipelines(self) -> None:
        # The schema lets hidden jobs have any form.
        document = {"leaks": self.template.job}
        self.assertEqual(problems({"leaks.gitlab-ci.json": json.dumps(document)}), "")
        self.template.job["artifacts"]["when"] = "sometimes"
        self.assertIn("is not one of", problems({"leaks.gitlab-ci.json": json.dumps(document)}))

    def test_a_leaking_program_fails_the_job_and_leaves_its_reports(self) -> None:
        result = self.run_job(f"'{self.program}' cycles=3")
        self.assertEqual(result.status, 1, result.log)
        self.assertIn("Leaks: 1 proven", result.log)
        junit, quality, page = (result.reports[kind] or "" for kind in ["junit", "codequality", "page"])
        self.expect_valid({"leaks.xml": junit, "leaks.codequality.json": quality})
        (case,) = ElementTree.fromstring(junit).iter("testcase")
        self.assertIsNotNone(case.find("failure"))
        self.assertTrue((case.get("name") or "").startswith("Retain cycle: Parent ↺ ("))
        (issue,) = json.loads(quality)
        self.assertEqual((issue["severity"], issue["location"]["path"]), ("critical", SOURCE))
        self.assertIn("RETAIN CYCLE", page.upper())

    def test_a_clean_program_passes_and_has_reports(self) -> None:
        result = self.run_job(f"'{self.program}'")
        self.assertEqual(result.status, 0, result.log)
        self.assertEqual(json.loads(result.reports["codequality"] or ""), [])
        (case,) = ElementTree.fromstring(result.reports["junit"] or "").iter("testcase")
        self.assertEqual((case.get("name"), len(case)), ("no leaks", 0))

    def test_the_job_ends_as_the_program_does_and_leaves_its_reports(self) -> None:
        result = self.run_job(f"'{self.program}' cycles=3 exit=7")
        self.assertEqual(result.status, 7)
        self.assertNotIn(None, result.reports.values())

    @second_tier
    def test_variables_choose_baseline_and_conditions(self) -> None:
        command = f"'{self.program}' cycles=3"
        options = f"--source-root '{ROOT}' --update-baseline"
        self.assertEqual(self.run_job(command, baseline="known leaks", options=options).status, 0)
        self.assertEqual(self.run_job(command, baseline="known leaks").status, 0)
        self.assertEqual(self.run_job(command).status, 1)
        (self.workspace / "known leaks").rename(self.workspace / ".leaktrace-baseline")
        self.assertEqual(self.run_job(command).status, 0)
        self.assertEqual(self.run_job(command, baseline="").status, 1)
        self.assertEqual(self.run_job(command, fail_on="leaks:2").status, 0)
        self.assertEqual(self.run_job(command, fail_on="leaks:2", baseline="").status, 0)
        refused = self.run_job(f"{command} && true")
        self.assertEqual((refused.status, set(refused.reports.values())), (1, {None}))
        self.assertIn("LEAKTRACE_COMMAND is not one command", refused.log)

    def test_a_release_that_is_damaged_or_missing_stops_the_job(self) -> None:
        folder = self.release.copy(self.folder / "damaged")
        archive = folder / self.release.archive.name
        archive.write_bytes(archive.read_bytes()[:-1] + b"\0")
        unlisted = self.release.copy(self.folder / "unlisted")
        (unlisted / "SHA256SUMS").write_text(f"{self.release.hash}  other.tar.xz\n")
        cases: list[tuple[str, dict[str, str | None]]] = [
            (f"the checksum of {archive.name} is wrong", {"source": f"file://{folder}"}),
            ("SHA256SUMS could not be read from", {"source": str(self.folder / "none")}),
            (f"does not list {archive.name}", {"source": str(unlisted)}),
            ("set LEAKTRACE_VERSION", {"version": ""}),
            ("set LEAKTRACE_SOURCE", {"source": None}),
        ]
        for words, variables in cases:
            result = self.run_job(f"'{self.program}'", **variables)
            self.assertEqual((result.status, set(result.reports.values())), (1, {None}), words)
            self.assertIn(words, result.log)
            self.assertNotIn("begins", result.log)
