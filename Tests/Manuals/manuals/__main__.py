"""Writes the manual pages of a command into a directory."""

import argparse
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from .commands import UnknownForm, parse, usage
from .pages import Edition, page


def output(*arguments: str) -> str:
    """What a command prints, its lines unbroken."""
    environment = {**os.environ, "COLUMNS": "1000"}
    return subprocess.run(arguments, env=environment, check=True, capture_output=True, text=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(prog="manuals")
    parser.add_argument("command", help="path of leaktrace")
    parser.add_argument("directory", type=Path, help="where to put the pages")
    parser.add_argument("--time", type=int, required=True, help="seconds since 1970, for the pages' date")
    options = parser.parse_args()
    date = datetime.fromtimestamp(options.time, timezone.utc).date().isoformat()
    try:
        root = parse(output(options.command, "--experimental-dump-help"))
        edition = Edition(output(options.command, "--version").strip(), date)
        options.directory.mkdir(parents=True, exist_ok=True)
        for command in [root, *root.subcommands]:
            names = [] if command is root else [command.name]
            text = page(command, usage(output(options.command, "help", *names)), edition, root)
            (options.directory / f"{'-'.join([root.name, *names])}.1").write_text(text, encoding="ascii")
    except (OSError, UnknownForm) as error:
        print(f"manuals: {error}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"manuals: {' '.join(error.cmd)} failed\n{error.stderr}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
