"""Blocks of a process as two observers have them: the recorder that was told of each, and the allocator's own metadata."""

import csv
import dataclasses
import io

from .leaktrace import DONE
from .processes import FailedCommand, run

QUESTION = """SELECT b.address, b.size, b.kind, s.type, coalesce(b.allocated_seconds, 0)
FROM blocks b JOIN site_list s ON s.id = b.site_id"""
# glibc gives up to the next multiple of 16, and a rest that is too small for a block of its own: 16 bytes more, and the
# head of the next one. A mapping of its own ends with a page; aligned blocks may have a page's rest as well.
ROUNDING, PAGE, MAPPED = 39, 4096, 100_000


@dataclasses.dataclass(frozen=True)
class Block:
    size: int
    type: str  # empty for a block that is no Swift object
    born: str  # in seconds; tells an address that was given out again from the block that had it before


def blocks(command, trace, snapshot=None):
    """The live blocks of an image, by address."""
    chosen = ["--snapshot", str(snapshot)] if snapshot else []
    asked = ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", command, "query", trace, "--format", "csv", "--timeout"]
    outcome = run([*asked, "600", *chosen, QUESTION], limit=900)
    if outcome.status not in DONE:
        raise FailedCommand(f"query ended with status {outcome.status}: {outcome.output[-200:]}")
    rows = csv.reader(io.StringIO(outcome.output))
    next(rows)
    return {address: Block(int(size), _type(kind, name), born) for address, size, kind, name, born in rows}


def _type(kind, name):
    """What an observer from outside can tell: the kind of what has no name, and no class of CoreFoundation's, which
    gives an object another class after it was made."""
    if kind == "object" and name.startswith(("Foundation._NSCF", "Foundation.__NSCF")):
        return "object of CoreFoundation's"
    return "" if kind == "malloc" else f"object {name}" if kind == "object" else kind


class Comparison:
    """The allocator's metadata beside the recorder's account. Blocks that are in only one of the recorder's images before
    and after came or went in between: the metadata may have them or not."""

    def __init__(self, metadata, before, after):
        self.count = len(metadata)
        self._metadata = metadata
        steady = {address: block for address, block in before.items() if after.get(address) == block}
        moving = (before.keys() | after.keys()) - steady.keys()
        self.steady = len(steady)
        self.unsettled = len(moving & metadata.keys())
        # In the metadata alone; of a program that goes on, some came and went between the images.
        self.alone = sorted(metadata.keys() - steady.keys() - moving)
        self._lines = [
            f"not in the metadata: {address} {_text(steady[address])}"
            for address in sorted(steady.keys() - metadata.keys())
        ]
        for address in sorted(steady.keys() & metadata.keys()):
            asked, found = steady[address], metadata[address]
            rounding = ROUNDING if asked.size < MAPPED else PAGE
            if not asked.size <= found.size <= asked.size + rounding:
                self._lines.append(f"another size: {address} {_text(asked)}, in the metadata {found.size}")
            elif asked.type != found.type:
                self._lines.append(f"another type: {address} {_text(asked)}, inspected {found.type or 'none'}")

    def excuse(self, addresses):
        """These came and went, as events say."""
        self.unsettled += len(set(self.alone) & addresses)
        self.alone = [address for address in self.alone if address not in addresses]

    @property
    def lines(self):
        return self._lines + [
            f"in the metadata alone: {address} {_text(self._metadata[address])}" for address in self.alone
        ]


def _text(block):
    return f"{block.size} bytes {block.type}".strip()
