import os
import stat
import tempfile
import unittest

from trials.leaktrace import Leaktrace

# Writes a line to the trace for each recording, and ends with its own status.
RECORDER = '#!/bin/sh\necho recorded >> "$4"\necho output\nexit 7\n'


class KeptTraces(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        command = os.path.join(self._directory.name, "leaktrace")
        with open(command, "w") as file:
            file.write(RECORDER)
        os.chmod(command, stat.S_IRWXU)
        self.trace = os.path.join(self._directory.name, "a.trace")

    def record(self, **options):
        return Leaktrace(self._directory.name, **options).record(["program"], self.trace)

    def recordings(self):
        with open(self.trace) as file:
            return len(file.readlines())

    def test_kept_trace_is_reused_with_its_run(self):
        first = self.record(takes_kept_traces=True)
        second = self.record(takes_kept_traces=True)
        self.assertEqual(self.recordings(), 1)
        self.assertEqual(first, second)
        self.assertEqual((second.status, second.output), (7, "output\n"))

    def test_kept_trace_of_another_recorder_is_marked(self):
        self.record(recorder="abc")
        self.assertTrue(self.record(recorder="def", takes_kept_traces=True).is_by_another_version)
        self.assertFalse(self.record(recorder="abc", takes_kept_traces=True).is_by_another_version)

    def test_trace_is_recorded_again_by_default(self):
        self.record()
        self.record()
        self.assertEqual(self.recordings(), 2)


if __name__ == "__main__":
    unittest.main()
