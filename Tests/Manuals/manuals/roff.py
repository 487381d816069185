"""Text in the language of manual pages, man(7)."""

import re
import textwrap

# Columns of the source of a page, without the two that may come before a line.
WIDTH = 78
# An option in a sentence: -o, --format. No part of a word, of a file's name or of a range of numbers.
OPTION = re.compile(r"(?<![\w/.-])--?[A-Za-z][\w-]*")


def escaped(text: str) -> str:
    """Text as it is to be read: nothing in it is a request or a special character."""
    replaced = text.replace("\\", "\\e").replace("'", "\\(aq").replace("-", "\\-").replace("...", ".\\|.\\|.")
    return "".join(character if character.isascii() else f"\\[u{ord(character):04X}]" for character in replaced)


def bold(text: str) -> str:
    return f"\\fB{escaped(text)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{escaped(text)}\\fR"


def sentence(text: str) -> str:
    """Words with the options among them in bold."""
    parts: list[str] = []
    end = 0
    for match in OPTION.finditer(text):
        parts += [escaped(text[end : match.start()]), bold(match.group())]
        end = match.end()
    return "".join(parts) + escaped(text[end:])


class Page:
    """Lines of a page."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def request(self, name: str, *arguments: str) -> None:
        words = (argument.replace('"', "\\(dq") for argument in arguments)
        self.lines.append(" ".join([f".{name}", *(f'"{word}"' if " " in word or not word else word for word in words)]))

    def section(self, title: str) -> None:
        self.request("SH", escaped(title))

    def line(self, roff: str) -> None:
        """A line that is no request, whatever it begins with. `roff` is escaped already."""
        self.lines.append(f"\\&{roff}" if roff.startswith((".", "'")) else roff)

    def text(self, roff: str) -> None:
        """Lines of a paragraph, which a reader fills."""
        for line in textwrap.wrap(roff, WIDTH, break_long_words=False, break_on_hyphens=False):
            self.line(line)

    def paragraph(self, roff: str) -> None:
        self.request("PP")
        self.text(roff)

    def item(self, tag: str, roff: str) -> None:
        """An entry of a list: a tag, and its text further in."""
        self.request("TP")
        self.line(tag)
        self.text(roff)

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"
