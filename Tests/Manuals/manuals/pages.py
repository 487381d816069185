"""Manual pages of the commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .commands import Argument, Command
from .roff import Page, bold, escaped, italic, sentence

# Paragraphs of a discussion that are sections of their own.
SECTIONS = {"Exit status: ": "EXIT STATUS", "Environment: ": "ENVIRONMENT"}
# A line of a table: a word, two spaces or more, and text.
ROW = re.compile(r"(\S+) {2,}(\S.*)")


@dataclass
class Edition:
    """What the pages' heads and feet say."""

    version: str
    # Of the sources, as 2026-03-05.
    date: str


def page(command: Command, usage: list[str], edition: Edition, root: Command) -> str:
    """The page of a command. `root`: the command that has all others."""
    is_root = command is root
    name = root.name if is_root else f"{root.name}-{command.name}"
    result = Page()
    result.lines.append('.\\" Made by scripts/manuals.')
    result.request("TH", escaped(name.upper()), "1", edition.date, f"{root.name} {edition.version}", "User Commands")
    # Neither hyphens nor wide gaps, so that a search finds names of options.
    result.request("nh")
    result.request("ad", "l")
    result.section("NAME")
    result.text(f"{escaped(name)} \\- {escaped(command.abstract.rstrip('.'))}")
    result.section("SYNOPSIS")
    for index, line in enumerate(usage):
        if index:
            result.request("br")
        result.line(synopsis(line))
    sections = write_description(command, result)
    write_arguments(command, result)
    if command.subcommands:
        result.section("COMMANDS")
        for entry in command.subcommands:
            result.item(reference(root, entry), sentence(entry.abstract))
    for title, paragraph in sections:
        result.section(title)
        result.text(sentence(paragraph))
    result.section("SEE ALSO")
    others = [entry for entry in root.subcommands if entry is not command]
    references = [] if is_root else [f"{bold(root.name)}(1)"]
    references += [reference(root, entry) for entry in others]
    for number, name in enumerate(references):
        result.line(name + ("," if number + 1 < len(references) else ""))
    return str(result)


def reference(root: Command, command: Command) -> str:
    return f"{bold(f'{root.name}-{command.name}')}(1)"


def synopsis(line: str) -> str:
    """A line that says how a command is called: the words to type in bold, those to replace in italics."""
    words = []
    for number, word in enumerate(line.split(" ")):
        core = word.strip("[]<>.")
        is_literal = number < 2 or core.startswith("-")
        is_placeholder = bool(core) and not is_literal
        shaped = bold(core) if core and is_literal else italic(core) if is_placeholder else ""
        before, _, after = word.partition(core) if core else (word, "", "")
        words.append(escaped(before.replace("<", "")) + shaped + escaped(after.replace(">", "")))
    return " ".join(words)


def write_description(command: Command, result: Page) -> list[tuple[str, str]]:
    """Writes the section. Returns the paragraphs that are sections of their own, with their titles."""
    result.section("DESCRIPTION")
    result.text(sentence(command.abstract))
    others = []
    for paragraph in filter(None, command.discussion.split("\n\n")):
        title = next((beginning for beginning in SECTIONS if paragraph.startswith(beginning)), None)
        if title:
            others.append((SECTIONS[title], capitalised(" ".join(paragraph.removeprefix(title).split("\n")))))
            continue
        rows = [ROW.fullmatch(line) for line in paragraph.split("\n")]
        if all(rows):
            for row in rows:
                if row:
                    result.item(bold(row[1]), sentence(re.sub(" +", " ", row[2])))
        else:
            result.paragraph(sentence(" ".join(paragraph.split("\n"))))
    return others


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def write_arguments(command: Command, result: Page) -> None:
    positional = [argument for argument in command.arguments if argument.kind == "positional"]
    if positional:
        result.section("ARGUMENTS")
        for argument in positional:
            result.item(italic(argument.value_name) + (" .\\|.\\|." if argument.is_repeating else ""), words(argument))
    options = [argument for argument in command.arguments if argument.kind != "positional"]
    titles: list[str | None] = [None]
    titles += list(dict.fromkeys(argument.section for argument in options if argument.section))
    for title in titles:
        # Those without a title come first.
        members = [argument for argument in options if argument.section == title]
        if not members:
            continue
        result.section(title.upper() if title else "OPTIONS")
        for argument in members:
            names = ", ".join(bold(name) for name in argument.names)
            value = f" {italic(argument.value_name)}" if argument.kind == "option" else ""
            result.item(names + value, words(argument))


def words(argument: Argument) -> str:
    """What an argument is for, which values it takes, and what it is if it is not given."""
    text = argument.abstract
    if argument.values:
        text += f" One of {', '.join(argument.values[:-1])} and {argument.values[-1]}."
    if argument.default and "(default:" not in argument.abstract:
        text += f" Default: {argument.default}."
    return sentence(text)
