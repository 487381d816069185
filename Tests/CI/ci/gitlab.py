"""A job of GitLab, and the part of a runner that executes its script."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass
class JobResult:
    """The end of a job: its exit status, its log, and the files that GitLab takes from it."""

    status: int
    log: str
    # By kind of report, and `page`; None for a file that the job has not written.
    reports: dict[str, str | None]


class JobTemplate:
    """A hidden job of a template, ready to be extended."""

    def __init__(self, path: Path, name: str) -> None:
        with open(path, encoding="utf-8") as file:
            self.document: dict[str, Any] = yaml.safe_load(file)
        self.job = self.document[name]
        # A variable of the template would override the pipeline's, so the script has the defaults.
        assert "variables" not in self.job
        self.variables = set(re.findall(r"LEAKTRACE_[A-Z_]+", "\n".join(self.job["script"])))

    def run(self, variables: Mapping[str, str], project: Path) -> JobResult:
        """Runs the script in a project, with these variables."""
        unknown = set(variables) - self.variables
        assert not unknown, f"the template has no variables {unknown}"
        environment = {name: os.environ[name] for name in ["PATH", "HOME", "LANG", "TMPDIR"] if name in os.environ}
        environment |= {"CI": "true", "GITLAB_CI": "true", "CI_PROJECT_DIR": str(project), **variables}
        # GitLab's runner gives bash all lines as one script, and ends it at the first failure.
        script = "set -eo pipefail\nset +o noclobber\n" + "\n".join(self.job["script"]) + "\n"
        process = subprocess.run(
            ["bash"],
            input=script.encode(),
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
        )
        artifacts = self.job["artifacts"]
        # Reports of a job that failed are the ones that matter.
        assert artifacts["when"] == "always"
        paths = dict(artifacts["reports"])
        (paths["page"],) = artifacts["paths"]
        reports = {
            kind: (project / path).read_text(encoding="utf-8") if (project / path).exists() else None
            for kind, path in paths.items()
        }
        return JobResult(process.returncode, process.stdout.decode("utf-8", errors="replace"), reports)
