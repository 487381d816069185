"""The folders of the analysis: who names whose types.

A folder may use only the folders below it. Between targets, the compiler enforces this. Within a target, this check
does. A folder uses another if its code, without comments and strings, names a type that the other declares at top
level. So the check misses calls of members that another folder declares in an extension.
"""

import os
import re

from .graph import Use, back_edges, unknown_layers

SOURCES = "Sources/TraceAnalysis"
# From the top.
FOLDERS = (
    "TraceAnalysis",
    "PageReports",
    "TraceDatabase",
    "TraceExports",
    "TraceReports",
    "Words",
    "Looking",
    "Judgement",
    "Facts",
    "ProcessAttachment",
    "TraceRecording",
    "InspectionTrace",
    "ThreadStacks",
    "WatchedProcess",
    "AllocatorMetadata",
    "HeapScan",
    "InspectedProcess",
    "RunDiff",
    "LeakGates",
    "AllocationReports",
    "Wording",
    "Outline",
    "Tasks",
    "Series",
    "Leaks",
    "History",
    "ObjectGraph",
    "SwiftReflection",
    "HeapGraph",
    "HeapImage",
    "WorkingMemory",
    "TraceSymbolication",
    "PlatformRules",
    "Aggregates",
    "Replay",
    "Format",
    "Memory",
    "AgentProtocol",
    "TextWriting",
)

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Text without its interpolations, which are code.
_TEXT = re.compile(r'"(?:[^"\\\n]|\\[^(\n])*"')
_DECLARATION = re.compile(
    r"^(?:(?:public|package|internal|final|indirect|@\w+(?:\([^)\n]*\))?)\s+)*(?:struct|class|enum|protocol|actor|typealias|func)\s+(\w+)",
    re.MULTILINE,
)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


def folder_of(module):
    """The target's folder, or the one in it that is a layer by itself."""
    parts = module.split("/")
    return parts[1] if len(parts) > 2 and parts[1] in FOLDERS else parts[0]


def code_of(text):
    return _TEXT.sub('""', _COMMENT.sub("", text))


def sources(root):
    """The code of each Swift file, by its path in the folder without the extension."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            if name.endswith(".swift"):
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8") as file:
                    found[os.path.splitext(os.path.relpath(path, root))[0]] = code_of(file.read())
    return found


def uses(root):
    """Uses of types and functions of other folders. A name that several folders declare says nothing."""
    files = sources(root)
    declared: dict[str, set[str]] = {}
    for module, code in files.items():
        for name in _DECLARATION.findall(code):
            declared.setdefault(name, set()).add(module)
    owners = {
        name: min(modules) for name, modules in declared.items() if len({folder_of(module) for module in modules}) == 1
    }
    found = []
    for module, code in sorted(files.items()):
        for name in sorted(set(_WORD.findall(code))):
            owner = owners.get(name)
            if owner is not None and folder_of(owner) != folder_of(module):
                found.append(Use(module, owner, f"{module}.swift names {name}"))
    return found


def complaints(uses, order=FOLDERS):
    """What breaks the order, in sentences."""
    found = [
        f"the folder {folder} has no place in the order of layers" for folder in unknown_layers(order, uses, folder_of)
    ]
    found += [
        f"{folder_of(use.user)} uses {folder_of(use.used)}, which is above it: {use.proof}"
        for use in back_edges(order, uses, folder_of)
    ]
    return found
