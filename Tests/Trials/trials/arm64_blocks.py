"""Checks light recordings of Tests/Arm64/blocks.c. The heap image must list the blocks that the program prints."""

import os
import re

from . import emulation
from .processes import must

ALLOCATORS = ("glibc", "jemalloc")


def stem(directory: str, allocator: str) -> str:
    return os.path.join(directory, f"blocks.{allocator}")


def build(root: str) -> tuple[str, str]:
    """Returns the paths of the program and of jemalloc."""
    directory = os.path.join(emulation.WORK, "blocks")
    os.makedirs(directory, exist_ok=True)
    product, source = os.path.join(directory, "blocks"), os.path.join(emulation.ROOT, "Tests", "Arm64", "blocks.c")
    flags = ["-O1", "-D_GNU_SOURCE", "-lpthread", "-fuse-ld=lld"]
    must([*emulation.compiler(root), source, "-o", product, *flags])
    package = emulation.fetch_package("libjemalloc2", emulation.known_packages(root))
    return product, os.path.join(package, "usr", "lib", "aarch64-linux-gnu", "libjemalloc.so.2")


def variables(library: str, jemalloc: str, allocator: str, answers: str) -> dict[str, str]:
    """The environment of a run that writes its trace to the directory `answers`."""
    preloaded = f"{library}:{jemalloc}" if allocator == "jemalloc" else library
    output = f"{stem(answers, allocator)}.trace"
    return {"LD_PRELOAD": preloaded, "LEAKTRACE_OUTPUT": output, "LEAKTRACE_MODE": "light", "LEAKTRACE_QUIET": "1"}


def complaints(leaktrace: str, directory: str, allocator: str) -> list[str]:
    """Compares the program's own blocks with those of the heap image."""
    with open(f"{stem(directory, allocator)}.out", encoding="utf-8") as file:
        printed = file.read()
    live = {
        int(address, 16): (int(requested), int(usable))
        for address, requested, usable in re.findall(r"^live (\S+) (\d+) (\d+)$", printed, re.MULTILINE)
    }
    freed = {int(address, 16) for address in re.findall(r"^freed (\S+)$", printed, re.MULTILINE)}
    events = must([leaktrace, "dump", "--events", f"{stem(directory, allocator)}.trace"])
    listed = {
        int(address, 16): int(size) for address, size in re.findall(r" malloc address=(0x[0-9a-f]+) size=(\d+)", events)
    }
    found = []
    if not live or not freed:
        found.append("the program printed no blocks")
    missing = live.keys() - listed.keys()
    # The image has the requested size of sampled blocks, and the usable size of others.
    resized = {address for address in live.keys() & listed.keys() if listed[address] not in live[address]}
    wrong = freed & listed.keys()
    for addresses, text in ((missing, "are missing"), (resized, "have another size"), (wrong, "are free")):
        if addresses:
            examples = ", ".join(f"{address:#x} {live.get(address, '')}" for address in sorted(addresses)[:3])
            found.append(f"{len(addresses)} of {len(live)} blocks {text}, such as {examples}")
    return [f"blocks of {allocator}: {text}" for text in found]
