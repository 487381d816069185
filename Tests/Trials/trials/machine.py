"""An emulated machine that boots a distribution's own kernel. Its processor has protection keys, which this machine's
may lack. Its files come from a root. It sends its output and its new files over a serial line."""

import base64
import os
import re
import shutil
import stat

from .processes import FailedCommand, must, run

EMULATOR = "qemu-system-x86_64"
# Time limit in seconds for a machine and its commands. The emulator translates each instruction.
LIMIT = 300
MEGABYTES = 1024
TOOLS = ("/bin/sh", "/bin/mount", "/bin/base64", "/bin/stty")
# The second serial line carries the answers. A line with a title precedes each output and each file.
INIT = """#!/bin/sh
exec </dev/console >/dev/console 2>&1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
cd {directory}
stty -F /dev/ttyS1 raw
exec 3>/dev/ttyS1
{commands}
exec 3>&-
"""
COMMAND = """echo "output {number}" >&3
({line}) 2>&1 </dev/null | base64 >&3
"""
FILE = """echo "file {path}" >&3
base64 {path} >&3
"""


class _Archive:
    """An archive of a machine's files, in the format that the kernel unpacks (newc, see cpio(5))."""

    def __init__(self):
        self._bytes, self._names = bytearray(), set()

    def add(self, path, mode, content=b"", device=(0, 0)):
        name = path.strip("/")
        if name in self._names:
            return
        parent = os.path.dirname(name)
        if parent:
            self.add(parent, stat.S_IFDIR | 0o755)
        self._names.add(name)
        encoded = name.encode() + b"\0"
        # Inode, mode, owner, group, links, time, size, device, device of a special file, length of the name, and an
        # unused checksum.
        fields = [len(self._names), mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0]
        self._bytes += b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        self._pad()
        self._bytes += content
        self._pad()

    def _pad(self):
        self._bytes += bytes(-len(self._bytes) % 4)

    def finished(self):
        self.add("TRAILER!!!", 0)
        return bytes(self._bytes)


def is_here():
    return shutil.which(EMULATOR) is not None


class Machine:
    """A machine with files of a root, at the same paths. `files`: the programs. Adds the libraries that they need."""

    def __init__(self, root, kernel, directory, files):
        self._root, self._kernel, self._directory = root, kernel, directory
        self._archive = _Archive()
        for path in (*TOOLS, *files):
            self._add(path)
            for library in self._libraries(path):
                self._add(library)
        for path in ("/proc", "/sys", "/dev", "/tmp", directory):
            self._archive.add(path, stat.S_IFDIR | 0o777)
        self._archive.add("/dev/console", stat.S_IFCHR | 0o600, device=(5, 1))

    def _add(self, path):
        # Absolute links lead to files of the root.
        original = must(self._root.command(["readlink", "-f", path])).strip()
        with open(self._root.path + original, "rb") as file:
            self._archive.add(path, stat.S_IFREG | 0o755, file.read())

    def _libraries(self, path):
        text = run(self._root.command(["ldd", path])).output
        return re.findall(r"(?:^|\s)(/\S+) \(0x", text, re.MULTILINE)

    def run(self, lines, paths):
        """Boots the machine and runs the command lines. Returns the output of each line, and the files at `paths`."""
        commands = "".join(COMMAND.format(number=number, line=line) for number, line in enumerate(lines))
        commands += "".join(FILE.format(path=path) for path in paths)
        init = INIT.format(directory=self._directory, commands=commands)
        self._archive.add("/init", stat.S_IFREG | 0o755, init.encode())
        base = os.path.join(self._directory, "machine")
        with open(f"{base}.cpio", "wb") as file:
            file.write(self._archive.finished())
        command = [EMULATOR, "-accel", "tcg", "-cpu", "max", "-m", str(MEGABYTES), "-nographic", "-nodefaults"]
        command += ["-no-reboot", "-kernel", self._kernel, "-initrd", f"{base}.cpio"]
        command += ["-serial", f"file:{base}.console", "-serial", f"file:{base}.answers"]
        # panic=-1 reboots when the first process ends, and -no-reboot then ends the emulator.
        command += ["-append", "console=ttyS0 quiet panic=-1"]
        must(command, limit=LIMIT)
        with open(f"{base}.answers", encoding="ascii", errors="replace") as file:
            answers = self._answers(file.read())
        try:
            outputs = [answers[f"output {number}"].decode(errors="replace") for number in range(len(lines))]
            return outputs, {path: answers[f"file {path}"] for path in paths}
        except KeyError as missing:
            with open(f"{base}.console", encoding="utf-8", errors="replace") as file:
                said = file.read()[-300:]
            raise FailedCommand(f"the machine ended without {missing}: {said}") from missing

    @staticmethod
    def _answers(text):
        parts = re.split(r"^((?:output|file) .*)\n", text, flags=re.MULTILINE)
        return {name.strip(): base64.b64decode(content) for name, content in zip(parts[1::2], parts[2::2], strict=True)}
