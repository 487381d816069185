"""Light recordings, compared with other heap profilers for production."""

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
SERVER_ROUNDS = 10  # the difference is a few percent, less than between single rounds
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


class LightLeaktrace(Way):
    """`leaktrace record --light`, with a profile every minute."""

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
    """Another allocator, with or without its own profiler."""

    def __init__(self, name: str, library: str, variables: dict[str, str], profiles: str = "") -> None:
        self.name = name
        self._library = os.path.join(LIBRARIES, library)
        self._variables = variables
        self._profiles = profiles  # pattern of the files that its profiler writes; "" if there is none

    @property
    def is_installed(self) -> bool:
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
            raise FailedRun(f"{self.name}: no profile was written; the library may lack its profiler")
        return TraceFacts(sum(os.path.getsize(path) for path in files))

    def check(self, workload: Workload, output: str, directory: str) -> TraceFacts:
        if output != workload.output:
            raise FailedRun(f"{self.name}, {workload.name}: printed {output!r} instead of {workload.output!r}")
        return self.facts(directory)


def light_ways(tool: str) -> list[Way]:
    """Returns the compared recorders and allocators, in the order of a round. Allocators must be installed."""
    allocators = [
        PreloadedAllocator("jemalloc", "libjemalloc.so.2", {}),
        PreloadedAllocator(
            "jemalloc, prof",
            "libjemalloc.so.2",
            {"MALLOC_CONF": "prof:true,prof_final:true,lg_prof_sample:19,prof_prefix:DIRECTORY/jeprof"},
            "jeprof*.heap",
        ),
        PreloadedAllocator("tcmalloc", "libtcmalloc.so.4", {}),
        # Samples for MallocExtension::GetHeapSample. HEAPPROFILE would take a stack for every allocation, and multiply
        # the time of churn by tens.
        PreloadedAllocator("tcmalloc, samples", "libtcmalloc.so.4", {"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
    ]
    # The image at the end slows short programs down noticeably, so there is a recording without it.
    light = [LightLeaktrace(tool, LIGHT, ["--no-snapshots"]), LightLeaktrace(tool, LIGHT + ", image", [])]
    ways: list[Way] = [Untraced(), *light, Leaktrace(tool, "stacks"), Heaptrack()]
    return ways + [each for each in allocators if each.is_installed]


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
    heading = "# Light recordings and other profilers"
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
            f"After a warm-up round, {result.rounds} rounds are measured. Each round runs all commands in turn. "
            "*Processor* is the user and system time of the command and all its child processes, in seconds. A ratio "
            "is the median of the rounds' ratios to the untraced run, which uses glibc's allocator. Other allocators "
            "may be faster or slower than glibc's even without a profiler, so each has a row without it. *Added* is "
            "the increase of the program's peak resident memory.",
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
                f"shop-server at {result.server.rate:,} requests a second, for {result.server.seconds} s per round. "
                "Latencies are in milliseconds.",
                latencies_table(result.server),
            ]
        return "\n\n".join(parts)

    def figures(self, result: LightResult) -> Iterable[Figure]:
        if result.server:
            for name in ("p50", "p99", "p99.9"):
                yield Figure(
                    f"{result.server.rate:,} requests/s: {name}, `--light`, relative to untraced",
                    result.server.ratio(LIGHT, name),
                    None,
                    " ×",
                )
