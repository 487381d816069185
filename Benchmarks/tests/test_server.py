import os
import subprocess
import tempfile
import unittest
from unittest import mock

from measuring.part import About, Bench, Programs
from measuring.parts.server import Server
from measuring.processes import FailedRun
from measuring.recorders import Untraced

# Exits with status 0 on SIGTERM, and does nothing else.
SERVER = """
#include <signal.h>
#include <stdio.h>
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  puts("port 4711");
  fflush(stdout);
  int number;
  sigwait(&set, &number);
  return 0;
}
"""


class ServerTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        source = os.path.join(self.folder, "server.c")
        with open(source, "w") as file:
            file.write(SERVER)
        subprocess.run(["cc", source, "-o", os.path.join(self.folder, "shop-server")], check=True)

    def load(self, script: str) -> None:
        path = os.path.join(self.folder, "pace")
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, 0o755)

    def bench(self) -> Bench:
        about = About("Monday", "--quick", {"leaktrace": "abc"})
        return Bench("", 2, True, False, self.folder, about, Programs(self.folder))

    def measure(self) -> str:
        part, bench = Server(), self.bench()
        with (
            mock.patch("measuring.parts.server._build", return_value=self.folder),
            mock.patch.object(Bench, "ways", return_value=[Untraced()]),
        ):
            return part.markdown(part.measure(bench), bench.about)

    def test_the_table_has_the_latencies_of_all_rounds(self) -> None:
        self.load('[ "$1" = 4711 ] && echo 3000 1000 2000 3000 4000')
        self.assertIn("| untraced | 1.00 (1.00…1.00) | 2.00 (2.00…2.00) | 3.00 (3.00…3.00) | 4.00", self.measure())

    def test_a_request_without_an_answer_is_a_failure(self) -> None:
        self.load("echo 2 were lost >&2; exit 1")
        with self.assertRaisesRegex(FailedRun, "not every request was answered: 2 were lost"):
            self.measure()
