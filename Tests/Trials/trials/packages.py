"""Clones public Swift packages at a version, and builds them with their tests."""

import dataclasses
import glob
import os
import shutil
import subprocess

from .processes import FailedCommand, must, run

# Time limits for one package. A build with one job at the lowest priority is slow.
CLONE_SECONDS, BUILD_SECONDS = 600, 7200


@dataclasses.dataclass
class Package:
    """One version of a package. Its clone is in `cache`."""

    url: str
    version: str
    cache: str
    flags: tuple = ()

    @property
    def name(self):
        return self.url.rstrip("/").rsplit("/", 1)[-1]

    @property
    def directory(self):
        return os.path.join(self.cache, "packages", f"{self.name}-{self.version}")

    def prepare(self, jobs):
        """Clones the package if necessary, and builds it."""
        if not os.path.isdir(self.directory):
            unfinished = f"{self.directory}.cloning-{os.getpid()}"
            shutil.rmtree(unfinished, ignore_errors=True)
            os.makedirs(os.path.dirname(self.directory), exist_ok=True)
            must(
                ["git", "clone", "--quiet", "--depth", "1", "--branch", self.version, self.url, unfinished],
                limit=CLONE_SECONDS,
            )
            os.rename(unfinished, self.directory)
        build(self.directory, jobs, ("--build-tests", *self.flags))

    def test_bundle(self):
        """Returns the path of the executable with all tests."""
        found = [
            path for path in sorted(glob.glob(f"{self.directory}/.build/debug/*.xctest")) if os.access(path, os.X_OK)
        ]
        if len(found) != 1:
            raise FailedCommand(f"{self.name} {self.version}: {len(found)} test bundles")
        return found[0]


def build(directory, jobs, flags=()):
    """Runs `swift build` at the lowest priority. Raises FailedCommand if it fails."""
    command = ["nice", "-n", "19", "swift", "build", "--package-path", directory, "--jobs", str(jobs), *flags]
    outcome = run(command, limit=BUILD_SECONDS)
    if outcome.status != 0:
        raise FailedCommand(f"swift build of {directory}: status {outcome.status}\n{outcome.output[-2000:]}")


def product(directory, name, flags=()):
    """Returns the path of a product."""
    path = subprocess.run(
        ["swift", "build", "--package-path", directory, "--show-bin-path", *flags],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout.strip()
    return os.path.join(path, name)
