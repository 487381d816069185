"""The parts of the benchmark. A new one is a class in a file of its own here, and an entry below."""

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

# In the order in which they are measured, and stand in RESULTS.md.
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
