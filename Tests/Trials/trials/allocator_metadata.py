"""Compares the blocks that the recorder counted with those in the allocator's metadata."""

import csv
import dataclasses
import io

from .leaktrace import DONE
from .processes import FailedCommand, run

QUESTION = """SELECT b.address, b.size, b.kind, s.type, coalesce(b.allocated_seconds, 0)
FROM blocks b JOIN site_list s ON s.id = b.site_id"""
# Most bytes that glibc adds to a block's requested size. It rounds up to a multiple of 16, and adds a remainder that is
# too small for another block. Blocks from MAPPED bytes on may have their own mapping, which ends with a page.
ROUNDING, PAGE, MAPPED = 39, 4096, 100_000


@dataclasses.dataclass(frozen=True)
class Block:
    size: int
    type: str  # empty for blocks that are not Swift objects
    born: str  # in seconds; distinguishes successive blocks at one address


def blocks(command, trace, snapshot=None):
    """Returns the live blocks of an image by address."""
    chosen = ["--snapshot", str(snapshot)] if snapshot else []
    asked = ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh", command, "query", trace, "--format", "csv", "--timeout"]
    outcome = run([*asked, "600", *chosen, QUESTION], limit=900)
    if outcome.status not in DONE:
        raise FailedCommand(f"query ended with status {outcome.status}: {outcome.output[-200:]}")
    rows = csv.reader(io.StringIO(outcome.output))
    next(rows)
    return {address: Block(int(size), _type(kind, name), born) for address, size, kind, name, born in rows}


def _type(kind, name):
    """Returns the type as both sides can know it. CoreFoundation changes the class of its objects after their
    allocation, so these have no exact type."""
    if kind == "object" and name.startswith(("Foundation._NSCF", "Foundation.__NSCF")):
        return "object of CoreFoundation's"
    return "" if kind == "malloc" else f"object {name}" if kind == "object" else kind


class Comparison:
    """The differences between the allocator's metadata and the recorder's blocks. The recorder took an image before and
    one after the metadata was read. If only one of them has a block, the metadata may have it or not."""

    def __init__(self, metadata, before, after):
        self.count = len(metadata)
        self._metadata = metadata
        steady = {address: block for address, block in before.items() if after.get(address) == block}
        moving = (before.keys() | after.keys()) - steady.keys()
        self.steady = len(steady)
        self.unsettled = len(moving & metadata.keys())
        # Blocks that only the metadata has. In a running program, some lived only between the two images.
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
        """Accepts blocks that lived only between the images, as the events show."""
        self.unsettled += len(set(self.alone) & addresses)
        self.alone = [address for address in self.alone if address not in addresses]

    @property
    def lines(self):
        return self._lines + [
            f"in the metadata alone: {address} {_text(self._metadata[address])}" for address in self.alone
        ]


def _text(block):
    return f"{block.size} bytes {block.type}".strip()
