"""A composite action of GitHub, and the part of a runner that executes its steps."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ci.expressions import condition, interpolate, string

# A command in the log: ::error file=a,line=1::message
COMMAND = re.compile(r"^::(error|warning|notice)(?: (.*?))?::(.*)$", re.MULTILINE)
# The keys of steps that this runner knows.
STEP_KEYS = {"name", "id", "if", "shell", "env", "run", "working-directory", "uses", "with", "continue-on-error"}


@dataclass
class Annotation:
    """A workflow command that annotates."""

    level: str
    properties: dict[str, str]
    message: str


@dataclass
class UsedAction:
    """A use of another action, with its inputs."""

    name: str
    inputs: dict[str, str]


@dataclass
class Result:
    """What a job shows after the action."""

    succeeded: bool
    outputs: dict[str, str]
    log: str
    summary: str
    uses: list[UsedAction]
    # Names of the steps that ran, in their order.
    ran: list[str]

    @property
    def annotations(self) -> list[Annotation]:
        found = []
        for level, properties, message in COMMAND.findall(self.log):
            pairs = (pair.partition("=") for pair in properties.split(",") if pair)
            found.append(Annotation(level, {key: _decoded(value) for key, _, value in pairs}, _decoded(message)))
        return found


def _decoded(text: str) -> str:
    for code, character in [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")]:
        text = text.replace(code, character)
    return text


@dataclass
class _Job:
    """The state of a job that steps change by their files."""

    environment: dict[str, str]
    path: list[str] = field(default_factory=list)
    failed: bool = False
    log: str = ""
    summary: str = ""
    uses: list[UsedAction] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)


class CompositeAction:
    """An action.yml, ready to be run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with open(folder / "action.yml", encoding="utf-8") as file:
            self.document = yaml.safe_load(file)
        assert self.document["runs"]["using"] == "composite"

    def run(
        self,
        inputs: Mapping[str, str],
        github: Mapping[str, Any],
        environment: Mapping[str, str],
        workspace: Path,
        used: Callable[[UsedAction], bool] = lambda _: True,
    ) -> Result:
        """Runs all steps in a workspace. `environment`: that of the runner.

        `used` stands for other actions: it returns whether one succeeds.
        """
        contexts: dict[str, Any] = {"github": dict(github), "inputs": {}, "steps": {}}
        contexts["inputs"] = self._inputs(inputs, contexts)
        job = _Job(dict(environment))
        for number, step in enumerate(self.document["runs"]["steps"]):
            self._run(step, number, job, contexts, workspace, used)
        outputs = {
            name: interpolate(output["value"], contexts) for name, output in self.document.get("outputs", {}).items()
        }
        return Result(not job.failed, outputs, job.log, job.summary, job.uses, job.ran)

    def _inputs(self, given: Mapping[str, str], contexts: Mapping[str, Any]) -> dict[str, str]:
        declared = self.document["inputs"]
        unknown = set(given) - set(declared)
        assert not unknown, f"action.yml has no inputs {unknown}"
        values = {}
        for name, declaration in declared.items():
            if declaration.get("required"):
                assert name in given, f"{name} is required"
            # A runner passes on nothing but text.
            values[name] = given.get(name, interpolate(str(declaration.get("default", "")), contexts))
        return values

    def _run(
        self,
        step: Mapping[str, Any],
        number: int,
        job: _Job,
        contexts: dict[str, Any],
        workspace: Path,
        used: Callable[[UsedAction], bool],
    ) -> None:
        assert set(step) <= STEP_KEYS, f"keys of {step.get('name')} that this runner does not know"
        outputs: dict[str, str] = {}
        outcome = "skipped"
        if condition(step.get("if"), contexts, job.failed):
            job.ran.append(step["name"])
            if "uses" in step:
                action = UsedAction(
                    step["uses"], {key: interpolate(string(value), contexts) for key, value in step["with"].items()}
                )
                job.uses.append(action)
                succeeded = used(action)
            else:
                succeeded, outputs = self._execute(step, number, job, contexts, workspace)
            outcome = "success" if succeeded else "failure"
            if not succeeded and not step.get("continue-on-error"):
                job.failed = True
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": outputs, "outcome": outcome}

    def _execute(
        self, step: Mapping[str, Any], number: int, job: _Job, contexts: Mapping[str, Any], workspace: Path
    ) -> tuple[bool, dict[str, str]]:
        # A composite action has to name the shell of each step.
        assert step["shell"] == "bash", f"{step['name']} names no shell"
        temporary = Path(job.environment["RUNNER_TEMP"])
        files = {}
        for name in ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"]:
            path = temporary / f"{name.lower()}-{number}"
            path.write_text("", encoding="utf-8")
            files[name] = path
        script = temporary / f"step-{number}.sh"
        script.write_text(interpolate(step["run"], contexts), encoding="utf-8")
        environment = dict(job.environment)
        environment.update({key: interpolate(string(value), contexts) for key, value in step.get("env", {}).items()})
        environment.update({name: str(path) for name, path in files.items()})
        environment["GITHUB_ACTION_PATH"] = str(self.folder)
        environment["PATH"] = ":".join([*reversed(job.path), job.environment["PATH"]])
        folder = workspace / interpolate(step.get("working-directory", "."), contexts)
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
        )
        job.log += process.stdout.decode("utf-8", errors="replace")
        job.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        job.environment.update(assignments(files["GITHUB_ENV"].read_text(encoding="utf-8")))
        job.path += files["GITHUB_PATH"].read_text(encoding="utf-8").splitlines()
        return process.returncode == 0, assignments(files["GITHUB_OUTPUT"].read_text(encoding="utf-8"))


def assignments(text: str) -> dict[str, str]:
    """Returns the values of a file of NAME=VALUE, or NAME<<END, lines and END."""
    values = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, separator, value = line.partition("=")
        if "<<" in name:
            name, _, end = line.partition("<<")
            body = []
            for part in lines:
                if part == end:
                    break
                body.append(part)
            value = "\n".join(body)
        else:
            assert separator, f"no assignment: {line}"
        values[name] = value
    return values


def runner_environment(temporary: Path) -> dict[str, str]:
    """The part of a runner's environment that does not depend on the job."""
    kept = {name: os.environ[name] for name in ["PATH", "HOME", "LANG"] if name in os.environ}
    return kept | {"CI": "true", "GITHUB_ACTIONS": "true", "RUNNER_OS": "Linux", "RUNNER_TEMP": str(temporary)}
