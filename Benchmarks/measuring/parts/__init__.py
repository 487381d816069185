"""The parts of the benchmark. Each part is a class in its own file of this folder, and has an entry below."""

from typing import Any

from ..part import Part
from .billion import Billion
from .client import Client
from .comparing import Comparing
from .exports import Exports
from .lengths import Lengths
from .light import Light
from .light_alone import LightAlone
from .recording import Recording
from .scaling import Scaling
from .server import Server
from .snapshots import Snapshots
from .tasks import Tasks
from .threads import Threads

# This is the order of measurement, and the order in RESULTS.md.
PARTS: tuple[Part[Any], ...] = (
    Recording(),
    Lengths(),
    Threads(),
    Server(),
    Light(),
    LightAlone(),
    Billion(),
    Scaling(),
    Snapshots(),
    Comparing(),
    Exports(),
    Client(),
    Tasks(),
)
