"""Keeps the machine busy with loops."""

import os
import subprocess
import sys

# Ends with its parent process, even if that is killed.
LOOP = "import os, sys\nparent = int(sys.argv[1])\nwhile os.getppid() == parent:\n    for _ in range(1 << 20): pass\n"


class Load:
    """Runs `count` busy loops inside a `with` block."""

    def __init__(self, count):
        self._count = count
        self._loops = []

    def __enter__(self):
        self._loops = [subprocess.Popen([sys.executable, "-c", LOOP, str(os.getpid())]) for _ in range(self._count)]
        return self

    def __exit__(self, *_):
        for loop in self._loops:
            loop.kill()
        for loop in self._loops:
            loop.wait()
