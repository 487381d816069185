"""Finds links of Markdown files that lead nowhere: to a file that is not there, or to a heading that no page has."""

import dataclasses
import os
import re
import subprocess
import sys
import urllib.parse

from .outputs import unclear

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)\)|!\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
CODE = re.compile(r"`+[^`]*`+")
ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Broken:
    """A link that leads nowhere."""

    path: str
    line: int
    target: str
    reason: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.target}: {self.reason}"


def prose(text):
    """The lines of a document that are no code, with their numbers from 1."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if found and fence in (None, found[1]):
            fence = None if fence else found[1]
        elif fence is None:
            yield number, line


def anchor(heading):
    """The name that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(text):
    """The names of all headings of a document. The second of equal ones ends in -1."""
    names: dict[str, int] = {}
    found = set()
    for _, line in prose(text):
        if heading := HEADING.match(line):
            name = anchor(heading[1])
            count = names.get(name, 0)
            names[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def links(text):
    """The targets of a document's links, with the numbers of their lines."""
    for number, line in prose(text):
        for match in LINK.finditer(CODE.sub("`code`", line)):
            yield number, match[1] if match[1] is not None else match[2]


def broken(documents, exists):
    """The links that lead nowhere. `documents`: texts by path; `exists`: whether a path is a file or a folder."""
    known = {path: anchors(text) for path, text in documents.items()}
    found = []
    for path, text in documents.items():
        for line, target in links(text):
            if ADDRESS.match(target) or not target:
                continue
            place, _, name = urllib.parse.unquote(target).partition("#")
            page = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
            if not exists(page):
                found.append(Broken(path, line, target, "no such file"))
            elif name and page in known and name not in known[page]:
                found.append(Broken(path, line, target, "no such heading"))
    return found


def main():
    """Checks all Markdown files that git knows, and those that are new."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    paths = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    documents = {}
    for path in filter(os.path.isfile, paths):
        with open(path, encoding="utf-8") as file:
            documents[path] = file.read()
    links_found, outputs_found = broken(documents, os.path.exists), unclear(documents)
    for place in [*links_found, *outputs_found]:
        print(place)
    if not documents:
        sys.exit("check-links: no Markdown file is here")
    print(f"{len(documents)} documents, {len(links_found)} broken links, {len(outputs_found)} outputs without a source")
    sys.exit(1 if links_found or outputs_found else 0)


if __name__ == "__main__":
    main()
