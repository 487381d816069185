"""The interface of a part of the benchmark, and the types that parts share."""

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from .plots import Plot
from .recorders import Way, recorders
from .rounds import say

BENCHMARKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPOSITORY = os.path.dirname(BENCHMARKS)


@dataclass
class About:
    """Date, command and machine of a part's measurement."""

    date: str
    arguments: str  # of scripts/bench
    machine: dict[str, Any]
    others: float | None = None  # most processors that other processes kept busy; None if not recorded

    def line(self) -> str:
        """The line below a part's heading."""
        command = f"{self.date}, `scripts/bench {self.arguments}`".rstrip()
        version = self.machine["leaktrace"] or "of unknown version"
        ranges = "A value with a range is a median. The range covers all rounds."
        return f"Measured {command}, leaktrace {version}. {ranges}"


@dataclass
class Figure:
    """One row of the summary."""

    name: str
    value: float | None  # None if it was not measured
    peer: float | None = None  # heaptrack's figure; None if there is none
    unit: str = ""
    digits: int = 2

    def text(self, number: float | None) -> str:
        return "" if number is None else f"{number:,.{self.digits}f}{self.unit}"


class Programs:
    """The workloads. Each is compiled on its first use."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._paths: dict[str, str] = {}

    def path(self, name: str) -> str:
        if name not in self._paths:
            program = os.path.join(self._directory, name)
            say(f"compiling {name}")
            source = os.path.join(BENCHMARKS, "workloads", name + ".swift")
            subprocess.run(["swiftc", "-O", "-g", "-o", program, source], check=True)
            self._paths[name] = program
        return self._paths[name]


@dataclass
class Bench:
    """A run of scripts/bench."""

    products: str  # the directory with leaktrace and libleaktrace.so
    rounds: int
    is_quick: bool  # small workloads, which only show that everything works
    counts_instructions: bool
    directory: str  # for temporary files
    about: About
    programs: Programs

    @property
    def tool(self) -> str:
        return os.path.join(self.products, "leaktrace")

    @property
    def library(self) -> str:
        return os.path.join(self.products, "libleaktrace.so")

    def ways(self) -> list[Way]:
        return recorders(self.tool, ("off", "stacks"))

    def file(self, name: str) -> str:
        return os.path.join(self.directory, name)


Result = TypeVar("Result")


class Part(ABC, Generic[Result]):
    """One part of the benchmark, which `--only` can select. `Result` is a record as in records.py."""

    name: ClassVar[str]
    heading: ClassVar[str]  # of the first level, in RESULTS.md
    result: type[Result]

    @abstractmethod
    def measure(self, bench: Bench) -> Result:
        """Raises FailedRun if a command fails or has an unexpected result. Such a run gives no figures."""

    @abstractmethod
    def markdown(self, result: Result, about: About) -> str:
        """Returns the part's section of RESULTS.md, with its heading."""

    def plots(self, result: Result) -> Sequence[Plot]:
        """Returns the diagrams that the section shows. They are in the folder `plots`."""
        return ()


class SummarisedPart(Part[Result]):
    """A part with figures in the summary."""

    @abstractmethod
    def figures(self, result: Result) -> Iterable[Figure]: ...
