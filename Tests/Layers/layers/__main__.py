"""Prints the layers of the sources, and fails if one of them uses another that is above it. Started by
scripts/check-layers."""

import argparse
import os
import subprocess
import sys
import tempfile

from . import c_folders, swift_folders, swift_targets
from .graph import diagram

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Shows the diagrams, word for word.
DOCUMENT = "docs/engineering/layers.md"
MANIFEST = "Package.swift"


def uses_of_recorder(compiler):
    with tempfile.TemporaryDirectory(prefix="leaktrace-layers-") as directory:
        objects = c_folders.compile_objects(c_folders.SOURCES, c_folders.INCLUDE_FOLDERS, directory, compiler)
        return c_folders.include_uses(c_folders.SOURCES) + c_folders.symbol_uses(objects)


def main():
    parser = argparse.ArgumentParser(prog="scripts/check-layers", description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.chdir(ROOT)
    uses = uses_of_recorder(options.compiler)
    swift_uses = swift_folders.uses(swift_folders.SOURCES)
    with open(MANIFEST, encoding="utf-8") as manifest:
        targets = swift_targets.targets(manifest.read(), swift_folders.SOURCES)
    diagrams = {
        c_folders.SOURCES: diagram(c_folders.FOLDERS, uses, c_folders.folder_of),
        f"{MANIFEST}, targets in {swift_folders.SOURCES}": diagram(
            swift_targets.order(targets), swift_targets.uses(targets), str
        ),
        swift_folders.SOURCES: diagram(swift_folders.FOLDERS, swift_uses, swift_folders.folder_of),
    }
    failures = c_folders.complaints(uses) + swift_folders.complaints(swift_uses)
    failures += swift_targets.complaints(targets, swift_folders.SOURCES)
    with open(DOCUMENT, encoding="utf-8") as document:
        text = document.read()
    for sources, shown in diagrams.items():
        print(f"{sources}\n{shown}\n")
        if shown not in text:
            failures.append(f"{DOCUMENT} does not show the layers of {sources} as they are printed here")
    for failure in failures:
        print(f"check-layers: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (subprocess.CalledProcessError, OSError) as failure:
        print(f"check-layers: {failure}", file=sys.stderr)
        sys.exit(2)
