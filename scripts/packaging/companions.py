"""Makes small libstdc++ and libgcc libraries with only the functions that libswiftRemoteMirror.so needs.

Usage: companions.py COMPILER MIRROR OUTPUT_DIRECTORY OBJECT...

Slim images have no libstdc++, and the build machine's libstdc++ may need a newer glibc than the release. Each companion
has the name of the original library, and defines the functions with the versions that MIRROR needs. The functions come
from the compiler's static libraries. COMPILER: a command line. OBJECT: further objects to link, see older_glibc.c.
"""

import collections
import re
import shlex
import subprocess
import sys
import tempfile

UNDEFINED = re.compile(r"\*UND\*\s+[0-9a-f]+\s+\(?((?:GLIBCXX|CXXABI|GCC)_[0-9.]+)\)?\s+(\S+)")
LIBRARIES = {"libstdc++.so.6": ("GLIBCXX", "CXXABI"), "libgcc_s.so.1": ("GCC",)}


def main() -> None:
    """Makes all companions."""
    compiler, mirror, output, objects = shlex.split(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    table = subprocess.run(["objdump", "-T", mirror], check=True, capture_output=True, text=True).stdout
    wanted = UNDEFINED.findall(table)
    if not wanted:
        sys.exit(f"companions: {mirror} takes nothing from libstdc++; does it still need it?")
    for name, prefixes in LIBRARIES.items():
        versions: dict[str, list[str]] = collections.defaultdict(list)
        for version, symbol in wanted:
            if version.split("_")[0] in prefixes:
                versions[version].append(symbol)
        link(compiler, f"{output}/{name}", name, versions, objects)


def link(compiler: list[str], path: str, name: str, versions: dict[str, list[str]], objects: list[str]) -> None:
    """Links a library that exports only the given symbols, each with its version.

    A library of which nothing is taken is empty: the loader still looks for it.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".map") as script:
        hides_others = " local: *;"
        if not versions:
            script.write("{ local: *; };\n")
        for version, symbols in sorted(versions.items()):
            script.write(f"{version} {{ global: {' '.join(s + ';' for s in sorted(symbols))}{hides_others} }};\n")
            hides_others = ""
        script.flush()
        roots = [f"-Wl,--undefined={symbol}" for symbols in versions.values() for symbol in sorted(symbols)]
        command = [*compiler, "-shared", "-nodefaultlibs", "-o", path, f"-Wl,-soname,{name}"]
        command += [f"-Wl,--version-script={script.name}", "-Wl,--gc-sections", "-Wl,-z,now", "-Wl,--build-id=none"]
        command += [*roots, *objects, "-Wl,--start-group", "-l:libstdc++.a", "-l:libgcc_eh.a", "-l:libgcc.a"]
        subprocess.run([*command, "-Wl,--end-group", "-lm", "-lc"], check=True)


main()
