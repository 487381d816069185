"""Recordings that can stay in production, beside other profilers of heaps that can."""

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass

from ..figures import megabytes, table
from ..part import About, Bench, Figure, SummarisedPart
from ..processes import FailedRun
from ..recorders import Heaptrack, Leaktrace, TraceFacts, Untraced, Way, Workload, remove_trace
from ..rounds import Measurement, measure_recorders
from .server import ServerResult, latencies_table, measure_server

FULL = {
    "churn": ("churn", ["18", "60"]),
    "json": ("json", ["5000", "50"]),
    "8 threads": ("threads", ["8", "15", "256"]),
    "64 threads": ("threads", ["64", "15", "256"]),
}
QUICK = {"churn": ("churn", ["12", "20"]), "8 threads": ("threads", ["8", "13", "64"])}
LIGHT = "leaktrace --light"
SERVER_ROUNDS = 10  # the difference is of a few percent, and single rounds differ by more
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class LightLeaktrace(Way):
    """`leaktrace record --light`, with a profile each minute."""

    def __init__(self, tool: str, name: str, options: list[str]) -> None:
        self.tool = tool
        self.name = name
        self._options = options

    def command(self, workload: Workload, directory: str) -> list[str]:
        trace = os.path.join(directory, "light.trace")
        remove_trace(trace)
        return [
            *(self.tool, "record", "--light", *self._options, "--profile-every", "60s", "--quiet"),
            *("-o", trace, "--", *workload.command),
        ]

    def facts(self, directory: str) -> TraceFacts:
        return TraceFacts(os.path.getsize(os.path.join(directory, "light.trace")))

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        if output != workload.output:
            raise FailedRun(f"{self.name}, {workload.name}: printed {output!r} instead of {workload.output!r}")
        return self.facts(directory)


class PreloadedAllocator(Way):
    """Another allocator, which may take samples itself."""

    def __init__(self, name: str, library: str, variables: dict[str, str], profiles: str = "") -> None:
        self.name = name
        self._library = os.path.join(LIBRARIES, library)
        self._variables = variables
        self._profiles = profiles  # a pattern of the files that it leaves; "" for none

    @property
    def is_there(self) -> bool:
        return os.path.exists(self._library)

    def command(self, workload: Workload, directory: str) -> list[str]:
        for path in glob.glob(os.path.join(directory, self._profiles)) if self._profiles else []:
            os.unlink(path)
        variables = [f"{name}={value.replace('DIRECTORY', directory)}" for name, value in self._variables.items()]
        return ["env", f"LD_PRELOAD={self._library}", *variables, *workload.command]

    def facts(self, directory: str) -> TraceFacts:
        if not self._profiles:
            return TraceFacts()
        files = glob.glob(os.path.join(directory, self._profiles))
        if not files:
            raise FailedRun(f"{self.name}: it wrote no profile: the library was built without its profiler")
        return TraceFacts(sum(os.path.getsize(path) for path in files))

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        if output != workload.output:
            raise FailedRun(f"{self.name}, {workload.name}: printed {output!r} instead of {workload.output!r}")
        return self.facts(directory)


def light_ways(tool: str) -> list[Way]:
    """In the order in which they take turns. Those that are not installed are left out."""
    allocators = [
        PreloadedAllocator("jemalloc", "libjemalloc.so.2", {}),
        PreloadedAllocator(
            "jemalloc, prof",
            "libjemalloc.so.2",
            {"MALLOC_CONF": "prof:true,prof_final:true,lg_prof_sample:19,prof_prefix:DIRECTORY/jeprof"},
            "jeprof*.heap",
        ),
        PreloadedAllocator("tcmalloc", "libtcmalloc.so.4", {}),
        # The samples that MallocExtension::GetHeapSample hands out. Its HEAPPROFILE takes a stack for every allocation,
        # and tens of times the time of churn.
        PreloadedAllocator("tcmalloc, samples", "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
    ]
    # A program of a second pays for the image at its end, which one of a day does not notice.
    light = [LightLeaktrace(tool, LIGHT, ["--no-snapshots"]), LightLeaktrace(tool, LIGHT + ", image", [])]
    ways: list[Way] = [Untraced(), *light, Leaktrace(tool, "stacks"), Heaptrack()]
    return ways + [each for each in allocators if each.is_there]


@dataclass
class LightWorkload:
    name: str
    title: str
    ways: dict[str, Measurement]


@dataclass
class LightResult:
    rounds: int
    workloads: list[LightWorkload]
    server: ServerResult | None = None


class Light(SummarisedPart[LightResult]):
    name = "light"
    heading = "# In production"
    result = LightResult

    def measure(self, bench: Bench) -> LightResult:
        ways = light_ways(bench.tool)
        found = []
        for name, (program, arguments) in (QUICK if bench.is_quick else FULL).items():
            workload = Workload(program, bench.programs.path(program), arguments)
            found.append(
                LightWorkload(name, workload.title, measure_recorders(ways, workload, bench.rounds, bench.directory))
            )
        served = [way for way in ways if way.name in ("untraced", LIGHT)]
        server = measure_server(bench, served, 1 if bench.is_quick else SERVER_ROUNDS)
        return LightResult(bench.rounds, found, server)

    def markdown(self, result: LightResult, about: About) -> str:
        parts = [
            self.heading,
            about.line(),
            f"Every way takes its turn in each of {result.rounds} rounds, after a warm-up round. *Processor* is user "
            "and system seconds of the command and all it starts; its ratio is the median of the rounds' ratios to the "
            "untraced run, which has glibc's allocator. Other allocators are faster or slower by themselves: their "
            "rows without a profiler say how much. *Added* is resident memory of the program itself, at its peak.",
        ]
        for workload in result.workloads:
            untraced = workload.ways["untraced"]
            rows = []
            for name, each in workload.ways.items():
                added = each.program_memory - untraced.program_memory
                rows.append(
                    [
                        name,
                        each.processor.text(),
                        f"{each.processor.ratio(untraced.processor):.3f}",
                        each.wall.text(),
                        f"{each.wall.ratio(untraced.wall):.3f}",
                        megabytes(added) if name != "untraced" else "",
                    ]
                )
            parts += [
                f"## {workload.name}: {workload.title}",
                table(["", "processor", "ratio", "wall", "ratio", "added MB"], rows),
            ]
        if result.server:
            parts += [
                "## A server",
                f"shop-server at {result.server.rate} requests a second, {result.server.seconds} s a round; "
                "milliseconds.",
                latencies_table(result.server),
            ]
        return "\n\n".join(parts)

    def figures(self, result: LightResult) -> Iterable[Figure]:
        if result.server:
            for name in ("p50", "p99", "p99.9"):
                yield Figure(
                    f"{result.server.rate:,} requests/s: {name} of `--light`, times the untraced run",
                    result.server.times_untraced(LIGHT, name),
                    None,
                    " ×",
                )
