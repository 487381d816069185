"""A machine that has other things to do: a busy loop for every processor."""

import os
import subprocess
import sys

# Ends when its parent ends, however the parent ends.
LOOP = "import os, sys\nparent = int(sys.argv[1])\nwhile os.getppid() == parent:\n    for _ in range(1 << 20): pass\n"


class Load:
    """Runs a number of busy loops between `with` and its end."""

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
