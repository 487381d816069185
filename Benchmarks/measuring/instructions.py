"""Instructions an event costs, counted by callgrind: figures that do not depend on how busy the machine is.

Each kind of call is run some number of times and twice as many, untraced and traced. Starting up costs the same in both and cancels out.
"""

import os
import re
import shutil
import subprocess

from .processes import FailedRun, run

KINDS = ("malloc", "free", "object", "retain", "release")


def _tool():
    """callgrind itself: the launcher is a dynamic program, which would be traced instead."""
    for directory in ("/usr/libexec/valgrind", "/usr/lib/valgrind", "/usr/lib/x86_64-linux-gnu/valgrind"):
        for machine in ("amd64", "arm64"):
            path = f"{directory}/callgrind-{machine}-linux"
            if os.access(path, os.X_OK):
                return path
    raise FailedRun("callgrind was not found beside valgrind")


class InstructionCounter:
    def __init__(self, leaktrace, library, directory):
        self._leaktrace = leaktrace
        self._directory = directory
        self._library = os.path.join(directory, "libleaktrace.so")
        self._tool = _tool()
        self._strip(library, self._library)

    @staticmethod
    def _strip(source, target):
        # Debug information newer than valgrind's makes it give up; symbols are all that is needed.
        subprocess.run(["objcopy", "--strip-debug", source, target], check=True)

    def program(self, path):
        target = os.path.join(self._directory, os.path.basename(path) + "-stripped")
        self._strip(path, target)
        return target

    def count(self, program, arguments, retains=None):
        """Instructions and events of one run; without `retains`, untraced."""
        profile = os.path.join(self._directory, "callgrind.out")
        trace = os.path.join(self._directory, "callgrind.trace")
        for path in (profile, trace):
            if os.path.exists(path):
                os.unlink(path)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("LEAKTRACE_", "LD_PRELOAD"))}
        environment["VALGRIND_LAUNCHER"] = shutil.which("valgrind")
        environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
        if retains:
            environment.update({"LD_PRELOAD": self._library, "LEAKTRACE_OUTPUT": trace, "LEAKTRACE_ARC": retains})
        command = [self._tool, "--tool=callgrind", f"--callgrind-out-file={profile}", program] + arguments
        run(command, self._directory, environment)
        with open(profile) as file:
            totals = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.MULTILINE)
        if not totals:
            raise FailedRun(f"{' '.join(command)}: no count")
        events = 0
        if retains:
            chunks = run([self._leaktrace, "dump", "--chunks", trace], self._directory).output
            closing = re.search(r"closing reason=exit .*?\bevents=(\d+)", chunks)
            if not closing:
                raise FailedRun(f"{' '.join(command)}: the trace was not closed by an exit")
            events = int(closing[1])
        return int(totals[1]), events

    def split(self):
        """Instructions of the last run by function of the recorder, the most first."""
        profile = os.path.join(self._directory, "callgrind.out")
        text = subprocess.run(
            ["callgrind_annotate", "--threshold=100", profile], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=True).stdout
        found = re.findall(r"^\s*([\d,]+) .*?[^ ]*:(\S+) \[.*libleaktrace\.so\]$", text, re.MULTILINE)
        totals = {}
        for count, name in found:
            # callgrind tells the depths of a recursion apart.
            name = re.sub(r"'\d+$", "", name)
            totals[name] = totals.get(name, 0) + int(count.replace(",", ""))
        return list(totals.items())

    def event_costs(self, calls, count):
        """Instructions an event of each kind, for each setting."""
        rows = {}
        for kind in KINDS:
            sizes = [count, 2 * count]
            arguments = [[kind, str(size), str(2 * count)] for size in sizes]
            plain = [self.count(calls, each)[0] for each in arguments]
            row = {"untraced": (plain[1] - plain[0]) / count}
            for retains in ("off", "counts", "stacks"):
                if retains == "off" and kind in ("retain", "release"):
                    # No event; the call itself must cost nothing more.
                    traced = [self.count(calls, each, retains)[0] for each in arguments]
                    row[retains] = (traced[1] - traced[0] - plain[1] + plain[0]) / count
                    continue
                (few, few_events), (many, many_events) = [self.count(calls, each, retains) for each in arguments]
                if many_events - few_events != count:
                    raise FailedRun(f"calls {kind}, --arc {retains}: {many_events - few_events} events for {count} calls")
                row[retains] = (many - few - plain[1] + plain[0]) / count
            rows[kind] = row
        return rows

    def workload_cost(self, program, few, many, retains):
        """Instructions an event of a whole workload, and how they are spread over the recorder's functions."""
        plain = [self.count(program, each)[0] for each in (few, many)]
        first, first_events = self.count(program, few, retains)
        first_split = dict(self.split())
        second, second_events = self.count(program, many, retains)
        events = second_events - first_events
        split = [(name, (count - first_split.get(name, 0)) / events) for name, count in self.split()]
        split.sort(key=lambda each: -each[1])
        return {
            "events": events,
            "instructions": (second - first - plain[1] + plain[0]) / events,
            "untraced": (plain[1] - plain[0]) / events,
            "functions": [each for each in split if each[1] >= 0.5],
        }
