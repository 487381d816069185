"""The situations of scripts/survival: programs that a recorder, as a guest in their process, can easily disturb."""

import dataclasses
import os
import shutil

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "Programs")

# Programs with many situations each, in the order of the table. The option --list prints the situations.
FAMILIES = {
    "situations-processes.c": "Processes",
    "situations-namespaces.c": "Namespaces",
    "situations-endings.c": "Ends",
    "situations-files.c": "Files and descriptors",
    "situations-memory.c": "Memory and images",
    "situations-threads.c": "Threads, signals and stacks",
    "situations-filters.c": "Filters of system calls",
    "situations-control.c": "Control of the process",
    "situations-confinement.c": "Control of the process",
    "situations-kernel.c": "Features of the kernel",
    "situations-interruptions.c": "Features of the kernel",
    "situations.swift": "Swift",
}
# Families that run in all forms. Their situations last for SITUATION_SECONDS.
IN_ALL_FORMS = ("Control of the process", "Features of the kernel")
OLDER, REAL = "Programs of the end-to-end tests", "Programs of the system"

# Programs of the end-to-end tests that need only arguments.
TESTED = (
    [
        ("children.c", [way], f"children by {way}")
        for way in (
            "fork",
            "fork-exec",
            "vfork",
            "vfork-fails",
            "spawn",
            "system",
            "popen",
            "many-forks",
            "fork-threads",
            "grandchildren",
        )
    ]
    + [("endings.c", [way, "100"], f"the end by {way}") for way in ("return", "exit")]
    + [("descriptors.c", [way], f"descriptors above 2 are closed by {way}") for way in ("loop", "range", "list")]
    + [("crash.swift", [way], f"a Swift program crashes: {way}") for way in ("index", "nil", "fatal")]
    + [
        ("exchange.c", [], "64 threads free each other's objects"),
        ("thread-ends.c", [], "threads end with events in their buffers"),
        ("wanderer.c", [], "the working directory changes all the time"),
        ("dispositions.c", [], "signals as the program sees and changes them"),
        ("own-malloc.c", [], "an allocator inside the program"),
        ("allocation-calls.c", ["4", "1000"], "every allocation call in four threads"),
        ("little-address-space.c", [], "hardly any address space is left at the end"),
        ("inheritance.c", [], "what a program inherits"),
        ("snapshot-family.c", ["3"], "the process has no children but its own"),
        ("plain.cpp", [], "C++ with exceptions"),
        ("plain.swift", [], "a small Swift program"),
        ("tasks.swift", [], "task groups, actors, continuations"),
        ("everyday.swift", [], "data in global variables"),
        ("signal-handlers.swift", [], "handlers allocate while objects are retained"),
    ]
)

# Programs of the system with arguments. Missing programs are left out.
SYSTEM = (
    (["sh", "-c", "for i in 1 2 3; do echo $i; done | sort -r | tr '\\n' ' '; exit 3"], "a shell with a pipeline"),
    (
        ["bash", "-c", "a=(1 2 3); for i in ${a[@]}; do (echo $((i * i))) & wait; done"],
        "bash with children in the background",
    ),
    (["ls", "-la", "/usr/bin"], "ls"),
    (["sort", "/etc/services"], "sort"),
    (["find", "/usr/share/doc", "-name", "copyright", "-newer", "/nonexistent"], "find, which fails"),
    (["tar", "cf", "-", "-C", "/usr/include", "linux"], "tar"),
    (["gzip", "-c", "/usr/bin/gzip"], "gzip"),
    (["xz", "-T2", "-c", "/usr/bin/gzip"], "xz with two threads"),
    (["git", "-C", PROGRAMS, "--no-pager", "log", "--oneline", "-50"], "git"),
    (["grep", "-rc", "define", "/usr/include/linux"], "grep"),
    (["awk", "BEGIN { for (i = 0; i < 100000; i++) a[i] = i * i; print length(a) }"], "awk"),
    (["sed", "-n", "s/a/b/gp", "/etc/services"], "sed"),
    (["perl", "-e", "my %h; $h{$_} = [$_ x 3] for 1..50000; print scalar(keys %h), qq(\\n); exit 4"], "perl"),
    (
        [
            "python3",
            "-c",
            "import threading, json; r = []\nfor i in range(8): t = threading.Thread(target=lambda: r.append(json.dumps(list(range(1000))))); t.start(); t.join()\nprint(len(r))",
        ],
        "python with threads",
    ),
    (
        [
            "python3",
            "-c",
            "import subprocess, os; print(subprocess.run(['sh', '-c', 'exit 5']).returncode); os.kill(os.getpid(), 9)",
        ],
        "python with a child, killed",
    ),
    (
        [
            "python3",
            "-c",
            "import multiprocessing as m\nif __name__ == '__main__':\n  with m.Pool(3) as p: print(p.map(abs, range(-5, 5)))",
        ],
        "python with a pool of processes",
    ),
    (
        [
            "sqlite3",
            ":memory:",
            "create table t(a); with recursive c(x) as (select 1 union all select x+1 from c limit 20000) insert into t select x from c; select sum(a) from t;",
        ],
        "sqlite",
    ),
    (["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-k", "secret", "-nosalt", "-in", "/etc/services"], "openssl"),
    (["gcc", "-xc", "-fsyntax-only", "-Wall", "/dev/null"], "gcc with its children"),
    (["clang", "-xc", "-fsyntax-only", "-Wall", "/dev/null"], "clang"),
    (["timeout", "0.3", "sleep", "10"], "timeout, which ends its child by a signal"),
    (["env", "-i", "A=1", "/usr/bin/env"], "env with an empty environment"),
    (["xargs", "-P", "4", "-n", "1", "true"], "xargs with four children at a time"),
    (["make", "--version"], "make"),
    (["swift-format", "--version"], "swift-format"),
    (["gdb", "--batch", "-ex", "print 6*7"], "gdb"),
    (["strace", "-o", "/dev/null", "true"], "strace, which traces its child"),
    (["busybox", "sh", "-c", "echo from a static program"], "a static shell"),
)


@dataclasses.dataclass(frozen=True)
class Situation:
    group: str
    name: str
    text: str
    command: tuple
    is_reporting: bool = False  # writes its resources at the end to the file SITUATION_REPORT
    follows: bool = False  # also runs with --follow-children
    has_all_forms: bool = False  # also runs in a light recording, inspected and attached to


class Builder:
    """Builds programs of Tests/Programs in a directory, unless they are newer than their sources."""

    def __init__(self, directory, toolchain):
        self._directory, self._toolchain = directory, toolchain

    def _c_compiler(self):
        return os.path.join(self._toolchain, "clang")

    def path(self, source, must):
        product = os.path.join(self._directory, os.path.splitext(source)[0])
        full = os.path.join(PROGRAMS, source)
        newest = max(os.path.getmtime(file) for file in (full, os.path.join(PROGRAMS, "situations.h")))
        if os.path.exists(product) and os.path.getmtime(product) > newest:
            return product
        with open(full, encoding="utf-8") as file:
            library = ["-parse-as-library"] if "@main" in file.read() else []
        if source.endswith(".c"):
            command = [self._c_compiler(), "-O1", "-g", "-fno-builtin", full, "-lpthread", "-ldl"]
        elif source.endswith(".cpp"):
            command = [os.path.join(self._toolchain, "clang++"), "-std=c++17", "-O1", "-g", "-fno-builtin", full]
        else:
            command = [os.path.join(self._toolchain, "swiftc"), "-O", "-g", *library, full]
        must([*command, "-o", product], limit=600)
        return product


def situations(builder, must, short=False):
    """Builds the programs. Returns all situations; if `short`, only those of families in C."""
    found = []
    for source, group in FAMILIES.items():
        if not os.path.exists(os.path.join(PROGRAMS, source)) or (short and not source.endswith(".c")):
            continue
        program = builder.path(source, must)
        for line in must([program, "--list"]).splitlines():
            name, text = line.split("\t")
            found.append(
                Situation(
                    group,
                    name,
                    text,
                    (program, name),
                    source != "situations-filters.c",
                    follows=group in ("Processes", "Namespaces", "Ends") and not name.startswith("exec_"),
                    has_all_forms=group in IN_ALL_FORMS,
                )
            )
    if short:
        return found
    for source, arguments, text in TESTED:
        name = " ".join([os.path.splitext(source)[0], *arguments])
        found.append(
            Situation(OLDER, name, text, (builder.path(source, must), *arguments), follows=source == "children.c")
        )
    for command, text in SYSTEM:
        if shutil.which(command[0]):
            found.append(
                Situation(
                    REAL,
                    command[0] if sum(other[0][0] == command[0] for other in SYSTEM) == 1 else text,
                    text,
                    tuple(command),
                )
            )
    return found
