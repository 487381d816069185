"""The folders of the recorder: who includes whom, and whose symbols who needs.

A folder may use those below it alone, and of the files in a folder no two may need each other. A module is a source
file with its header.
"""

import os
import re
import subprocess

from .graph import Use, back_edges, circles, unknown_layers

SOURCES = "Sources/CTraceShim"
# From the top. arch is everything that depends on the processor.
FOLDERS = (
    "hooks",
    "process",
    "profile",
    "image",
    "sampling",
    "record",
    "unwind",
    "thread",
    "swift",
    "elf",
    "os",
    "arch",
)
INCLUDE_FOLDERS = (SOURCES, "Sources/CHeapScan", "Sources/CTraceFormat/include", "Sources/CProcessCalls/include")
# The header that gives unit tests access to the recorder's parts. The recorder itself does not include it.
FOR_TESTS = "CTraceShim.h"

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def folder_of(module):
    """The first part of a module's path: os of os/os, arch of arch/x86_64/code."""
    return module.split("/")[0]


def module_of(path):
    return os.path.splitext(path)[0]


def source_files(root):
    """Paths of C files and headers in a folder, relative to it, sorted."""
    found = []
    for directory, _, names in os.walk(root):
        found += [os.path.relpath(os.path.join(directory, name), root) for name in names if name.endswith((".c", ".h"))]
    return sorted(path for path in found if path != FOR_TESTS)


def include_uses(root):
    """Uses by #include. Headers that are not in the folder belong to other targets."""
    files = source_files(root)
    modules = {module_of(path) for path in files}
    uses = []
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                included = _INCLUDE.match(line)
                if included and module_of(included[1]) in modules and module_of(included[1]) != module_of(path):
                    uses.append(
                        Use(module_of(path), module_of(included[1]), f'{path}:{number} includes "{included[1]}"')
                    )
    return uses


def compile_objects(root, include_folders, directory, compiler):
    """An object file for each source file, by module. Without optimisation: a call that is never made is a use, too."""
    flags = ["-std=gnu17", "-O0", "-fPIC", "-w", *(f"-I{folder}" for folder in include_folders)]
    objects, running = {}, []
    for path in source_files(root):
        if not path.endswith(".c"):
            continue
        objects[module_of(path)] = os.path.join(directory, module_of(path).replace("/", ".") + ".o")
        running.append(
            subprocess.Popen([compiler, *flags, "-c", os.path.join(root, path), "-o", objects[module_of(path)]])
        )
        if len(running) == os.cpu_count():
            _finish(running.pop(0))
    for process in running:
        _finish(process)
    return objects


def _finish(process):
    if process.wait() != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)


def symbol_uses(objects):
    """Uses by symbol: one object needs what another defines, declared in a header or not."""
    defined: dict[str, str] = {}
    needed: dict[str, set[str]] = {}
    for module, path in objects.items():
        output = subprocess.run(["nm", "-P", "-g", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in output.splitlines():
            name, kind = line.split()[:2]
            if kind == "U":
                needed.setdefault(module, set()).add(name)
            else:
                defined[name] = module
    return [
        Use(module, defined[name], f"{module}.c needs {name} of {defined[name]}.c")
        for module, names in sorted(needed.items())
        for name in sorted(names)
        if defined.get(name, module) != module
    ]


def complaints(uses, order=FOLDERS):
    """Lines that say what breaks the order; none if it holds."""
    said = [f"the folder {folder} is not in the order of folders" for folder in unknown_layers(order, uses, folder_of)]
    said += [
        f"{use.proof}: {folder_of(use.used)} is above {folder_of(use.user)}"
        for use in back_edges(order, uses, folder_of)
    ]
    for circle in circles(uses):
        said.append(f"a circle of files: {' '.join(circle)}")
        said += [f"  {use.proof}" for use in sorted(set(uses)) if use.user in circle and use.used in circle]
    return said
