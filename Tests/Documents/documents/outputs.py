"""Finds outputs in pages for users without a comment that names their source, and such comments without an output."""

import dataclasses
import re

# Languages of blocks that show no output.
CODE = {"bash", "c", "conf", "diff", "dockerfile", "json", "python", "sh", "sql", "swift", "xml", "yaml"}
FENCE = re.compile(r"^\s*```(.*)$")
MARK = "<!-- shown by: "
PAGE = re.compile(r"^(README\.md|docs/[^/]+\.md)$")


@dataclasses.dataclass(frozen=True)
class Unclear:
    """An output without a source, or a source without an output."""

    path: str
    line: int
    reason: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.reason}"


def is_output(info):
    """Whether a block with this text after its fence shows output. `text EXECUTABLE PROGRAM` names its source."""
    words = info.split()
    return not words or (words[0] not in CODE and len(words) == 1)


def shows_commands_and_output(lines):
    """Whether some lines of a block are commands after `$ `, and others are not."""
    return any(line.startswith("$ ") for line in lines) and not all(line.startswith("$ ") for line in lines)


def unclear(documents):
    """The outputs without sources, and sources without outputs, in pages for users. `documents`: texts by path."""
    found = []
    for path in filter(PAGE.match, documents):
        mark: int | None = None
        fence: int | None = None
        in_mark, info = False, ""
        block: list[str] = []
        for number, line in enumerate(documents[path].splitlines(), 1):
            if fence is not None:
                if not FENCE.match(line):
                    block.append(line)
                    continue
                if mark is None and (is_output(info) or shows_commands_and_output(block)):
                    found.append(Unclear(path, fence, f"this output needs a comment before it: {MARK}SOURCE … -->"))
                if mark is not None and not is_output(info):
                    found.append(Unclear(path, mark, "this comment has no output after it"))
                mark, fence = None, None
            elif in_mark:
                in_mark = not line.endswith("-->")
            elif line.startswith(MARK):
                mark, in_mark = number, not line.endswith("-->")
            elif start := FENCE.match(line):
                fence, info, block = number, start[1].strip(), []
            elif line.strip() and mark is not None:
                found.append(Unclear(path, mark, "this comment has no output after it"))
                mark = None
        if mark is not None:
            found.append(Unclear(path, mark, "this comment has no output after it"))
    return found
