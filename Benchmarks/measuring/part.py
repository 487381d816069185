"""What a part of the benchmark gives, and what it is given."""

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
    """When, how and on what a part was measured."""

    date: str
    arguments: str  # of scripts/bench
    machine: dict[str, Any]
    others: float | None = None  # processors that others kept busy at most; None where that is not noted

    def line(self) -> str:
        """One line below a part's heading."""
        command = f"{self.date}, `scripts/bench {self.arguments}`".rstrip()
        version = self.machine["leaktrace"] or "of unknown version"
        return f"{command}, leaktrace {version}. Medians, with the smallest and largest."


@dataclass
class Figure:
    """One row of the summary. None: nothing was measured, or there is nothing to compare with."""

    name: str
    value: float | None
    peer: float | None = None  # heaptrack's
    unit: str = ""
    digits: int = 2

    def text(self, number: float | None) -> str:
        return "" if number is None else f"{number:,.{self.digits}f}{self.unit}"


class Programs:
    """The workloads, compiled when they are first asked for."""

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
    is_quick: bool  # small workloads, to see that everything works
    counts_instructions: bool
    directory: str  # for all that is written meanwhile
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
    """One subject of the benchmark, which `--only` can choose. `Result` is a record: see records.py."""

    name: ClassVar[str]
    heading: ClassVar[str]  # in RESULTS.md, of the first level
    result: type[Result]

    @abstractmethod
    def measure(self, bench: Bench) -> Result:
        """Raises FailedRun if anything is not as it should be: no figure is taken from that."""

    @abstractmethod
    def markdown(self, result: Result, about: About) -> str:
        """The part's section of RESULTS.md, with its heading."""

    def plots(self, result: Result) -> Sequence[Plot]:
        """The diagrams that the section refers to, in the folder `plots`."""
        return ()


class SummarisedPart(Part[Result]):
    """A part of which the summary has figures."""

    @abstractmethod
    def figures(self, result: Result) -> Iterable[Figure]: ...
