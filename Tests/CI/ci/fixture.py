"""What the checks of both runners have in common."""

import atexit
import functools
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from ci.release import REPOSITORY, Release

SCRIPTS = REPOSITORY / "scripts"
# The file with the cycle that the checked program makes.
SOURCE = "Tests/Programs/gated.swift"


# Checks that scripts/test leaves to --whole, since others cover the feature.
second_tier = unittest.skipIf("LEAKTRACE_CI_FIRST_TIER" in os.environ, "scripts/test --whole runs it")


def problems(documents: dict[str, str]) -> str:
    """Returns what scripts/validate-formats says against documents, by their file names. Empty if they are valid."""
    with tempfile.TemporaryDirectory(prefix="leaktrace-ci.") as folder:
        paths = []
        for name, text in documents.items():
            paths.append(Path(folder) / name)
            paths[-1].write_text(text, encoding="utf-8")
        process = subprocess.run(
            [SCRIPTS / "validate-formats", *paths], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    return process.stdout if process.returncode else ""


@functools.cache
def shared_release() -> Release:
    """A release of the products under test, which exists until the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="leaktrace-ci.")
    atexit.register(folder.cleanup)
    return Release(Path(os.environ["LEAKTRACE_CI_PRODUCTS"]), Path(folder.name))


class RunnerCase(unittest.TestCase):
    """A check with a release, a workspace, and a folder for everything else."""

    release: Release

    @classmethod
    def setUpClass(cls) -> None:
        cls.release = shared_release()

    def setUp(self) -> None:
        own = tempfile.TemporaryDirectory(prefix="leaktrace-ci.")
        self.addCleanup(own.cleanup)
        self.folder = Path(own.name)
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        (self.folder / "temporary").mkdir()

    @property
    def program(self) -> str:
        return os.environ["LEAKTRACE_CI_PROGRAM"]

    def expect_valid(self, documents: dict[str, str]) -> None:
        """Validates reports by their file names."""
        self.assertEqual(problems(documents), "")
