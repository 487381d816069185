"""Runs the GitHub action: what it shows, uploads and comments, and how its job ends."""

import json
import os
import unittest
from pathlib import Path
from typing import Any

from ci.action import CompositeAction, Result, UsedAction, runner_environment
from ci.fixture import SCRIPTS, SOURCE, RunnerCase, problems, second_tier
from ci.release import REPOSITORY as ROOT
from ci.release import empty_archive
from ci.server import PULL_REQUEST, REPOSITORY, TOKEN, GitHubServer

MARKER = "<!-- leaktrace: leaktrace -->"


class ActionCase(RunnerCase):
    """Runs the action in a pull request, unless `event` says otherwise."""

    def setUp(self) -> None:
        super().setUp()
        self.server = GitHubServer(self.release.folder)
        self.addCleanup(self.server.close)
        self.action = CompositeAction(SCRIPTS / "ci" / "github")
        self.event: dict[str, Any] = {"pull_request": {"number": PULL_REQUEST, "head": {"sha": "abc123"}}}
        self.action_ref = f"v{self.release.version}"
        self.upload_fails = False
        self.environment: dict[str, str] = {}

    def run_action(self, command: str, **inputs: str) -> Result:
        event = self.folder / "event.json"
        event.write_text(json.dumps(self.event), encoding="utf-8")
        environment = runner_environment(self.folder / "temporary") | {
            "GITHUB_API_URL": self.server.url,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "42",
            "GITHUB_SERVER_URL": self.server.url,
            "GITHUB_WORKSPACE": str(self.workspace),
        }
        github = {"token": TOKEN, "action_ref": self.action_ref, "action_repository": "leaktrace/leaktrace"}
        defaults = {"source": str(self.release.folder), "options": f"--source-root '{ROOT}'"}
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        result = self.action.run(
            defaults | given | {"command": command},
            github,
            environment | self.environment,
            self.workspace,
            lambda action: not (self.upload_fails and "upload-sarif" in action.name),
        )
        self.assertNotIn(TOKEN, result.log)
        return result

    def leaking(self, **inputs: str) -> Result:
        return self.run_action(f"'{self.program}' cycles=3", **inputs)

    def clean(self, **inputs: str) -> Result:
        return self.run_action(f"'{self.program}'", **inputs)

    def messages(self, result: Result, level: str) -> list[str]:
        return [note.message for note in result.annotations if note.level == level]

    def own_comments(self) -> list[dict[str, Any]]:
        return [comment for comment in self.server.comments if comment["body"].startswith(MARKER)]


class CheckStepTests(ActionCase):
    def test_a_leaking_program_fails_the_job_after_everything_is_uploaded(self) -> None:
        result = self.leaking(artifact="leaks")
        self.assertFalse(result.succeeded)
        self.assertEqual(result.outputs["status"], "1")
        self.assertEqual(result.outputs["failed-gates"], "new-leaks")
        self.assertEqual(result.outputs["version"], self.release.version)
        self.assertEqual(result.ran[-1], "Result")
        self.assertLess(result.ran.index("Upload SARIF"), result.ran.index("Result"))
        # The program's output and the report are in the log, the Markdown is in the summary.
        self.assertIn("begins\nends\n", result.log)
        self.assertIn("RETAIN CYCLE  Parent ↺", result.log)
        self.assertTrue(result.summary.startswith("### leaktrace: 1 new leak in <code>gated</code>\n"), result.summary)
        # Annotations: the gate first, then the finding at its line.
        gate, finding = result.annotations
        self.assertEqual((gate.level, gate.properties["title"]), ("error", "leaktrace: gated"))
        self.assertEqual(gate.message, "gate new-leaks failed: 1 new finding")
        self.assertEqual(finding.properties["title"], "Retain cycle: Parent ↺")
        self.assertEqual(finding.properties["file"], SOURCE)
        line = (ROOT / SOURCE).read_text(encoding="utf-8").splitlines()[int(finding.properties["line"]) - 1]
        self.assertIn("again = {", line)
        self.assertTrue(finding.message.startswith("3 instances, "), finding.message)

    def test_other_actions_get_the_reports(self) -> None:
        result = self.leaking(artifact="leaks", name="unit tests")
        reports = os.path.dirname(result.outputs["sarif"])
        self.assertEqual(
            result.uses,
            [
                UsedAction(
                    "github/codeql-action/upload-sarif@v4",
                    {"sarif_file": result.outputs["sarif"], "category": "unit tests"},
                ),
                UsedAction("actions/upload-artifact@v4", {"name": "leaks", "path": reports, "overwrite": "true"}),
            ],
        )
        self.assertEqual(sorted(os.listdir(reports)), ["leaks.html", "leaks.md", "leaks.sarif", "leaks.xml"])
        texts = {name: Path(result.outputs[name]).read_text(encoding="utf-8") for name in ["sarif", "junit"]}
        self.expect_valid({"leaks.sarif": texts["sarif"], "leaks.xml": texts["junit"]})
        (run,) = json.loads(texts["sarif"])["runs"]
        self.assertEqual([entry["ruleId"] for entry in run["results"]], ["retainCycle"])
        # Code scanning keeps the logs of a matrix apart by this name.
        self.assertEqual(run["automationDetails"]["id"], "unit tests/gated/")

    def test_a_clean_program_passes(self) -> None:
        result = self.clean()
        self.assertTrue(result.succeeded, result.log)
        self.assertEqual((result.outputs["status"], result.outputs["failed-gates"]), ("0", ""))
        self.assertEqual(result.annotations, [])
        self.assertIn("### leaktrace: no leaks in <code>gated</code>", result.summary)
        # Code scanning closes findings that a later log lacks, so it gets an empty log as well.
        self.assertEqual([action.name for action in result.uses], ["github/codeql-action/upload-sarif@v4"])

    def test_a_program_that_fails_ends_the_job_with_its_status_and_its_reports(self) -> None:
        result = self.run_action(f"'{self.program}' cycles=3 exit=7")
        self.assertFalse(result.succeeded)
        self.assertEqual((result.outputs["status"], result.outputs["failed-gates"]), ("7", "new-leaks"))
        self.assertEqual(len(result.uses), 1)
        self.assertEqual(len(self.own_comments()), 1)
        passed = self.run_action(f"'{self.program}' exit=7")
        self.assertFalse(passed.succeeded)
        self.assertEqual((passed.outputs["status"], passed.outputs["failed-gates"]), ("7", ""))

    def test_a_program_that_cannot_be_judged_is_not_taken_for_clean(self) -> None:
        result = self.run_action(f"'{self.program}' signal=9")
        self.assertFalse(result.succeeded)
        self.assertEqual(result.outputs["status"], "137")
        self.assertIn("### leaktrace: leaks cannot be judged in", result.summary)
        self.assertIn("### leaktrace: leaks cannot be judged in", self.own_comments()[0]["body"])

    @second_tier
    def test_inputs_choose_baseline_conditions_folder_and_reports(self) -> None:
        folder = self.workspace / "package with spaces"
        folder.mkdir()
        update = f"--source-root '{ROOT}' --update-baseline"
        accepted = self.leaking(working_directory=folder.name, baseline="known leaks", options=update)
        self.assertTrue(accepted.succeeded, accepted.log)
        self.assertIn("Parent ↺", (folder / "known leaks").read_text(encoding="utf-8"))
        self.assertTrue(self.leaking(working_directory=folder.name, baseline="known leaks").succeeded)
        self.assertFalse(self.leaking(working_directory=folder.name).succeeded)
        self.assertTrue(self.leaking(fail_on="leaks:2").succeeded)
        self.server.comments.clear()
        result = self.leaking(sarif="false", comment="never")
        self.assertEqual((result.uses, self.server.comments), ([], []))
        self.assertEqual(result.outputs["status"], "1")

    @second_tier
    def test_a_command_is_read_as_bash_reads_it(self) -> None:
        several = self.run_action(f"bash -c 'true && exec \"$0\" \"$@\"' \\\n  '{self.program}' cycles=2\n")
        self.assertEqual(several.outputs["failed-gates"], "new-leaks")
        for command in [f"'{self.program}' && true", "'open", "  "]:
            result = self.run_action(command)
            self.assertFalse(result.succeeded)
            self.assertEqual((result.outputs["status"], result.uses), ("64", []))
            (message,) = self.messages(result, "error")
            self.assertIn("The input 'command' is", message)
            self.assertIn("### leaktrace: not checked", result.summary)
        wrong = self.clean(options="--no-such-option")
        self.assertEqual((wrong.succeeded, wrong.outputs["status"]), (False, "64"))
        self.assertIn("### leaktrace: no report", wrong.summary)
        missing = self.run_action("no-such-program")
        self.assertEqual((missing.succeeded, missing.outputs["status"]), (False, "127"))


class CommentTests(ActionCase):
    def test_the_first_run_makes_the_comment_and_the_next_ones_edit_it(self) -> None:
        for number in range(130):
            self.server.add(f"Comment {number}", "reviewer")
        first = self.leaking()
        # The second page of the comments is read, too.
        self.assertEqual(self.server.methods(), ["GET", "GET", "POST"])
        (comment,) = self.own_comments()
        self.assertIn("### leaktrace: 1 new leak in <code>gated</code>", comment["body"])
        self.assertIn(f"Commit abc123, [log]({self.server.url}/{REPOSITORY}/actions/runs/42)", comment["body"])
        self.assertEqual(first.outputs["comment-url"], comment["html_url"])

        self.event["pull_request"]["head"]["sha"] = "def456"
        second = self.clean()
        self.assertTrue(second.succeeded)
        self.assertEqual(self.server.methods(), ["GET", "GET", "PATCH"])
        self.assertEqual(self.own_comments(), [comment])
        self.assertIn("### leaktrace: no leaks in", comment["body"])
        self.assertIn("Commit def456", comment["body"])
        self.assertEqual(second.outputs["comment-url"], comment["html_url"])

        self.assertFalse(self.leaking().succeeded)
        self.assertEqual(self.own_comments(), [comment])
        self.assertIn("1 new leak", comment["body"])
        self.assertEqual(len(self.server.comments), 131)

    @second_tier
    def test_no_comment_begins_without_a_failed_gate_unless_asked_for(self) -> None:
        result = self.clean()
        self.assertEqual((self.server.comments, result.outputs["comment-url"]), ([], ""))
        self.clean(comment="always")
        self.assertEqual(len(self.own_comments()), 1)
        wrong = self.clean(comment="sometimes")
        self.assertFalse(wrong.succeeded)
        self.assertIn("on-failure, always or never", wrong.log)

    @second_tier
    def test_each_check_of_a_pull_request_has_a_comment_of_its_own(self) -> None:
        for name in ["debug", "release", "a --> b", "debug"]:
            self.leaking(name=name)
        markers = [comment["body"].partition("\n")[0] for comment in self.server.comments]
        self.assertEqual(
            markers, ["<!-- leaktrace: debug -->", "<!-- leaktrace: release -->", "<!-- leaktrace: a -__ b -->"]
        )

    @second_tier
    def test_comments_of_others_that_quote_the_marker_are_left_alone(self) -> None:
        quoted = self.server.add(f"{MARKER}\nquoted", "reviewer")
        self.leaking()
        self.assertEqual(quoted["body"], f"{MARKER}\nquoted")
        self.assertEqual(self.server.comments[1]["user"]["type"], "Bot")
        # A token of a person finds the comments of that person.
        self.server.login = "builder"
        self.server.comments = [quoted]
        self.leaking()
        self.leaking()
        self.assertEqual([comment["user"]["login"] for comment in self.server.comments], ["reviewer", "builder"])
        self.assertEqual(quoted["body"], f"{MARKER}\nquoted")

    def test_a_token_that_may_only_read_gets_a_notice_and_fails_nothing(self) -> None:
        self.server.is_read_only = True
        leaking = self.leaking()
        self.assertEqual((leaking.succeeded, leaking.outputs["status"]), (False, "1"))
        (notice,) = self.messages(leaking, "notice")
        self.assertIn("the token may not write one (HTTP 403, Resource not accessible by integration)", notice)
        self.assertTrue(self.clean(comment="always").succeeded)
        refused = self.clean(comment="always", token="none")
        self.assertIn("HTTP 401, Bad credentials", self.messages(refused, "notice")[0])
        self.assertTrue(refused.succeeded)
        self.assertEqual(self.server.comments, [])

    @second_tier
    def test_a_server_that_fails_gets_a_warning_and_no_second_comment(self) -> None:
        self.server.broken = {"POST"}
        result = self.leaking()
        self.assertEqual(self.server.methods(), ["GET", "POST"])
        self.assertIn("HTTP 500, Server Error", self.messages(result, "warning")[0])
        self.server.close()
        unreachable = self.clean(comment="always")
        self.assertTrue(unreachable.succeeded)
        self.assertIn("HTTP 000", self.messages(unreachable, "warning")[0])

    def test_a_push_has_no_comment(self) -> None:
        self.event = {"ref": "refs/heads/main"}
        result = self.leaking(comment="always")
        self.assertEqual((result.outputs["status"], self.server.methods()), ("1", []))

    def test_sarif_that_cannot_be_uploaded_gets_a_notice_and_fails_nothing(self) -> None:
        self.upload_fails = True
        result = self.clean()
        self.assertTrue(result.succeeded)
        self.assertIn("not uploaded to code scanning", self.messages(result, "notice")[0])


class InstallTests(ActionCase):
    def expect_refusal(self, words: str, **inputs: str) -> Result:
        result = self.clean(**inputs)
        self.assertFalse(result.succeeded)
        (message,) = self.messages(result, "error")
        self.assertIn(words, message)
        self.assertEqual((result.ran, result.uses, self.server.methods()), (["Install leaktrace"], [], []))
        self.assertEqual(result.outputs["status"], "")
        return result

    @second_tier
    def test_a_release_comes_from_a_folder_a_file_or_a_server(self) -> None:
        for source in [f"file://{self.release.folder}", f"{self.server.url}/releases/"]:
            self.assertTrue(self.clean(source=source, version=self.release.version).succeeded, source)
        # The workflow's name for the action says which release, unless the input does.
        self.assertTrue(self.clean(version="").succeeded)
        self.assertTrue(self.clean(version=f"v{self.release.version}").succeeded)

    def test_the_releases_of_the_actions_repository_are_the_usual_source(self) -> None:
        message = self.expect_refusal("SHA256SUMS could not be read from", source="").log
        self.assertIn(f"{self.server.url}/leaktrace/leaktrace/releases/download/{self.action_ref}", message)

    def test_a_wrong_checksum_stops_the_job_and_installs_nothing(self) -> None:
        folder = self.release.copy(self.folder / "damaged")
        archive = folder / self.release.archive.name
        content = bytearray(archive.read_bytes())
        content[len(content) // 2] ^= 1
        archive.write_bytes(content)
        result = self.expect_refusal(f"The checksum of {archive.name} is wrong: SHA256SUMS says", source=str(folder))
        self.assertIn("Nothing was installed.", result.log)
        self.assertIn(self.release.hash, result.log)
        self.assertEqual(list((self.folder / "temporary").glob("leaktrace-install.*/leaktrace-*/bin")), [])

    def test_releases_that_lack_something_are_refused(self) -> None:
        folder = self.release.copy(self.folder / "lacking")
        (folder / "SHA256SUMS").write_text(f"{self.release.hash}  other.tar.xz\n")
        self.expect_refusal(f"does not list {self.release.archive.name}", source=str(folder))
        name = self.release.archive.name.removesuffix(".tar.xz")
        archive = folder / self.release.archive.name
        checksum = empty_archive(archive, [f"{name}/lib/leaktrace/libleaktrace.so"])
        (folder / "SHA256SUMS").write_text(f"{checksum} *{archive.name}\n")
        self.expect_refusal(f"has no {name}/bin/leaktrace", source=str(folder))
        self.expect_refusal("leaktrace-9.9.9-linux-x86_64.tar.xz could not be read from", version="9.9.9")

    def test_what_is_no_release_is_refused(self) -> None:
        self.expect_refusal("'1.0/../x' is no version", version="1.0/../x")
        self.action_ref = "main"
        self.expect_refusal("uses this action at 'main', which is no release")

    @second_tier
    def test_programs_that_the_image_lacks_are_installed(self) -> None:
        # Everything but xz and jq, which a stand-in for apt-get adds.
        programs = self.folder / "programs"
        programs.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for path in Path(folder).iterdir() if Path(folder).is_dir() else []:
                link = programs / path.name
                if path.name not in ("xz", "jq", "apt-get", "sudo") and not link.exists():
                    link.symlink_to(path)
        found = {name: next(iter(paths(name)), None) for name in ["xz", "jq"]}
        apt = programs / "apt-get"
        apt.write_text(
            f'#!/bin/sh\necho "$@" >> "{self.folder}/apt"\n[ "$1" = install ] || exit 0\n'
            + "".join(f'ln -s "{path}" "{programs}/{name}"\n' for name, path in found.items())
        )
        apt.chmod(0o755)
        (programs / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
        (programs / "sudo").chmod(0o755)
        self.environment["PATH"] = str(programs)
        result = self.leaking()
        self.assertEqual(result.outputs["failed-gates"], "new-leaks", result.log)
        self.assertIn("--no-install-recommends xz-utils jq\n", (self.folder / "apt").read_text(encoding="utf-8"))
        self.server.methods()
        for name in ["xz", "jq"]:
            (programs / name).unlink()
        apt.write_text("#!/bin/sh\necho 'no network'\nexit 100\n")
        refused = self.expect_refusal("These packages are missing and could not be installed: xz-utils jq.")
        self.assertIn("no network", refused.log)


def paths(program: str) -> list[str]:
    """The places of a program in PATH."""
    folders = os.environ["PATH"].split(":")
    return [f"{folder}/{program}" for folder in folders if os.access(f"{folder}/{program}", os.X_OK)]


class ActionFileTests(unittest.TestCase):
    def test_the_file_is_valid_by_the_schema_of_actions(self) -> None:
        document = CompositeAction(SCRIPTS / "ci" / "github").document
        self.assertEqual(problems({"leaktrace.action.json": json.dumps(document)}), "")
        # The check of the check: each step of such an action has to name its shell.
        del document["runs"]["steps"][0]["shell"]
        self.assertIn("$.runs: ", problems({"leaktrace.action.json": json.dumps(document)}))

    def test_inputs_reach_scripts_by_the_environment_alone(self) -> None:
        # The text of a pull request could end a command otherwise.
        for step in CompositeAction(SCRIPTS / "ci" / "github").document["runs"]["steps"]:
            self.assertNotIn("${{", step.get("run", ""), step["name"])

    def test_every_input_and_output_is_documented_and_used(self) -> None:
        action = CompositeAction(SCRIPTS / "ci" / "github")
        text = (action.folder / "action.yml").read_text(encoding="utf-8")
        for name, declaration in action.document["inputs"].items():
            self.assertTrue(declaration["description"].endswith("."), name)
            self.assertIn(f"inputs.{name}", text, name)
        for name, declaration in action.document["outputs"].items():
            self.assertTrue(declaration["description"].endswith("."), name)
        document = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
        for name in [*action.document["inputs"], *action.document["outputs"]]:
            self.assertTrue(f"`{name}`" in document, f"docs/ci.md has no {name}")
