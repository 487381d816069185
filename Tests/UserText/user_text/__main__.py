"""Prints all text that users see as one Markdown document, each with its file and line. Started by
scripts/user-text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .literals import UnknownForm
from .sources import texts
from .texts import document

ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/user-text", description=__doc__)
    parser.parse_args()
    try:
        sys.stdout.write(document(texts(ROOT)))
    except (OSError, UnknownForm) as failure:
        print(f"user-text: {failure}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
