"""The targets of the analysis: which modules Package.swift lets each see, and which it imports.

The compiler refuses a name of a module that is not imported. The package manager refuses circles, but lets a target
import what it does not declare, so declarations and imports are held to each other here.
"""

import os
import re
from typing import NamedTuple

from .graph import Use

_TARGET = re.compile(r'\.target\(\s*name: "(\w+)",\s*(?:dependencies: ([^:]*?),\s*)?path: "([^"]*)"')
_LIST = re.compile(r"^let (\w+)(?:: \[Target\.Dependency\])? =\s+([^:]*?\])$", re.MULTILINE)
_TERM = re.compile(r'"(\w+)"|(\w+)')
_IMPORT = re.compile(r"^(?:@\w+ )*(?:public |package |internal |private )?import (\w+)", re.MULTILINE)


class Target(NamedTuple):
    name: str
    path: str
    dependencies: tuple


def _names(expression, lists):
    """The names in a sum of lists, some of which have names themselves."""
    found: list[str] = []
    for text, name in _TERM.findall(expression):
        found += [text] if text else lists[name]
    return found


def targets(manifest, sources):
    """The targets below `sources` in the order of the manifest, from the bottom; each with those that it depends on."""
    found = [entry for entry in _TARGET.findall(manifest) if entry[2].startswith(sources + "/")]
    known = {name for name, _, _ in found}
    lists: dict[str, list[str]] = {}
    for name, expression in _LIST.findall(manifest):
        lists[name] = _names(expression, lists)
    return [
        Target(name, path, tuple(other for other in _names(dependencies, lists) if other in known))
        for name, dependencies, path in found
    ]


def order(targets):
    """Their names from the top."""
    return tuple(target.name for target in reversed(targets))


def uses(targets):
    return [Use(target.name, other, "Package.swift") for target in targets for other in target.dependencies]


def imports(path):
    """The modules that the Swift files of a folder import."""
    found = set()
    for directory, _, names in os.walk(path):
        for name in names:
            if name.endswith(".swift"):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    found.update(_IMPORT.findall(file.read()))
    return found


def complaints(targets, sources, root="."):
    """What Package.swift says otherwise than the files, in sentences."""
    known = {target.name: number for number, target in enumerate(targets)}
    found = []
    paths = {os.path.normpath(target.path) for target in targets}
    for folder in sorted(os.listdir(os.path.join(root, sources))):
        if os.path.normpath(os.path.join(sources, folder)) not in paths:
            found.append(f"{sources}/{folder} is not a target")
    for number, target in enumerate(targets):
        imported = {name for name in imports(os.path.join(root, target.path)) if name in known}
        declared = set(target.dependencies)
        late = [other for other in target.dependencies if known[other] > number]
        found += [f"Package.swift lists {target.name} before {other}, which it depends on" for other in late]
        found += [f"{target.name} imports {other} and does not depend on it" for other in sorted(imported - declared)]
        found += [f"{target.name} depends on {other} and does not import it" for other in sorted(declared - imported)]
    return found
