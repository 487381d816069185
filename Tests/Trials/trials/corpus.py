"""Builds the programs of Tests/Corpus in the same way and place as the end-to-end tests, so both share the results."""

import dataclasses
import json
import os

from .processes import must

TRIALS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(TRIALS))
CORPUS = os.path.join(ROOT, "Tests", "Corpus")
PROGRAMS = os.path.join(ROOT, ".build", "e2e-programs")

VARIANTS = {
    "dynamic-Onone": ["-Onone"],
    "dynamic-O": ["-O"],
    "static-Onone": ["-Onone", "-static-stdlib", "-D", "STATIC_STDLIB"],
    "static-O": ["-O", "-static-stdlib", "-D", "STATIC_STDLIB"],
}
FOLDERS = {"corpus": ("", "Cases", "CleanPrograms"), "scopes": ("Scopes", "Scopes/Leaks", "Scopes/Clean")}
# A separate package, which has only dynamic variants.
PACKAGE = "nio-corpus"


@dataclasses.dataclass(frozen=True)
class Case:
    """One program in one form and variant."""

    executable: str
    name: str
    mode: str
    variant: str

    def __str__(self):
        return f"{self.name} {self.mode} ({self.variant})"


def cases(variants):
    """Returns all cases of the corpus in these variants."""
    found = []
    for executable, path in (("corpus", "expected.json"), ("scopes", "Scopes/expected.json")):
        with open(os.path.join(CORPUS, path)) as file:
            for values in json.load(file):
                program = values.get("program", executable)
                possible = values.get("variants") or [
                    each for each in VARIANTS if program != PACKAGE or each.startswith("dynamic")
                ]
                found += [
                    Case(program, values["name"], mode, variant)
                    for variant in variants
                    if variant in possible
                    for mode in ("leak", "clean")
                    if mode in values
                ]
    return found


def sources(executable):
    """Returns the source files of an executable."""
    folders = [os.path.join(CORPUS, folder) for folder in FOLDERS[executable]]
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in sorted(os.listdir(folder))
        if name.endswith(".swift")
    ]


def build(executable, variant, jobs):
    """Returns the path of an executable. Compiles it if a source is newer."""
    if executable == PACKAGE:
        return os.path.join(build_package(variant, jobs, PACKAGE), PACKAGE)
    files = sources(executable)
    folders = [os.path.join(CORPUS, folder) for folder in FOLDERS[executable]]
    directory = os.path.join(PROGRAMS, "corpus", variant)
    path = os.path.join(directory, executable)
    if os.path.exists(path) and all(os.path.getmtime(each) < os.path.getmtime(path) for each in files + folders):
        return path
    os.makedirs(directory, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    must(
        ["swiftc", "-g", "-j", str(jobs), "-module-name", executable, *VARIANTS[variant], *files, "-o", unfinished],
        directory=directory,
        limit=1800,
    )
    os.rename(unfinished, path)
    return path


def build_package(variant, jobs, product=None):
    """Compiles one product of Tests/Corpus/Packages, or all. Returns the folder of the products."""
    command = [
        "swift",
        "build",
        "--package-path",
        os.path.join(CORPUS, "Packages"),
        "--scratch-path",
        os.path.join(PROGRAMS, "packages"),
        "--configuration",
        "release" if variant.endswith("-O") else "debug",
        "--jobs",
        str(jobs),
    ]
    must([*command, *(["--product", product] if product else [])], limit=3600)
    return must([*command, "--show-bin-path"]).strip().splitlines()[-1]
