"""Reads the description of the commands that `leaktrace --experimental-dump-help` prints."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

# The version of the description's format. The parser increases it when the format changes.
SERIALIZATION_VERSION = 0


class UnknownForm(Exception):
    """The command's output does not have the format that this module reads."""


@dataclass
class Argument:
    kind: str
    names: list[str]
    value_name: str
    abstract: str
    default: str | None
    values: list[str]
    section: str | None
    is_repeating: bool

    @classmethod
    def parse(cls, fields: dict[str, Any]) -> Argument:
        names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in fields.get("names", [])]
        return cls(
            kind=fields["kind"],
            names=names,
            value_name=fields.get("valueName", ""),
            abstract=fields.get("abstract", ""),
            default=fields.get("defaultValue"),
            values=fields.get("allValues", []),
            section=fields.get("sectionTitle"),
            is_repeating=fields["isRepeating"],
        )

    def negates(self, other: Argument) -> bool:
        """Whether this flag is `--no-x` and the other one is `--x`."""
        return any(f"--no-{name.removeprefix('--')}" in self.names for name in other.names)


@dataclass
class Command:
    name: str
    abstract: str
    discussion: str
    arguments: list[Argument]
    subcommands: list[Command] = field(default_factory=list)

    @classmethod
    def parse(cls, fields: dict[str, Any]) -> Command:
        arguments: list[Argument] = []
        for argument in (Argument.parse(entry) for entry in fields.get("arguments", []) if entry["shouldDisplay"]):
            # The parser lists `--x` and `--no-x` separately. Join them into one argument.
            if arguments and argument.kind == "flag" and argument.negates(arguments[-1]):
                arguments[-1].names += argument.names
                arguments[-1].default = arguments[-1].default or argument.default
            else:
                arguments.append(argument)
        subcommands = [entry for entry in fields.get("subcommands", []) if entry.get("shouldDisplay", True)]
        return cls(
            name=fields["commandName"],
            abstract=fields.get("abstract", ""),
            discussion=fields.get("discussion", ""),
            arguments=arguments,
            subcommands=[cls.parse(entry) for entry in subcommands if entry["commandName"] != "help"],
        )


def parse(dump: str) -> Command:
    """The root command of a description."""
    document = json.loads(dump)
    if document.get("serializationVersion") != SERIALIZATION_VERSION:
        raise UnknownForm(f"the parser describes its commands in form {document.get('serializationVersion')}")
    return Command.parse(document["command"])


def usage(help_text: str) -> list[str]:
    """The lines of a help text that say how a command is called."""
    lines = help_text.split("\n")
    start = next((index for index, line in enumerate(lines) if line.startswith("USAGE: ")), None)
    if start is None:
        raise UnknownForm("the help text does not say how the command is called")
    found = [lines[start].removeprefix("USAGE: ")]
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        found.append(line.strip())
    return found
