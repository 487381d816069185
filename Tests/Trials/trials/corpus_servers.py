"""Records the servers of Tests/Corpus/Packages, while a load generator sends requests."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import time

from .corpus import CORPUS, Case
from .processes import FailedCommand, environment, must

EXECUTABLE = "servers"
START_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Server:
    """A server, and the requests that the load generator sends."""

    name: str
    load: str
    requests: int
    connections: int


def servers():
    """Returns the servers of the corpus by name."""
    with open(os.path.join(CORPUS, "Packages", "servers.json")) as file:
        fields = [field.name for field in dataclasses.fields(Server)]
        return {values["name"]: Server(**{name: values[name] for name in fields}) for values in json.load(file)}


def cases():
    """Returns each server with its fault and without it."""
    return [Case(EXECUTABLE, name, mode, "dynamic-O") for name in servers() for mode in ("leak", "clean")]


def record(command, products, server, mode, trace, limit):
    """Records a server, from its start to SIGTERM. `command`: leaktrace. Raises FailedCommand if a part fails."""
    printed = f"{trace}.out"
    try:
        with open(printed, "wb") as output:
            words = [command, "record", "--quiet", "-o", trace, "--", os.path.join(products, server.name), mode]
            process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, env=environment())
        try:
            words = [os.path.join(products, "load"), _port(printed, process)]
            must([*words, str(server.requests), str(server.connections), server.load], limit=limit)
            process.send_signal(signal.SIGTERM)
            if process.wait(limit) != 0:
                raise FailedCommand(f"{server.name} ended with {process.returncode}: {_text(printed)[-200:]}")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    finally:
        if os.path.exists(printed):
            os.remove(printed)


def _text(path):
    with open(path, errors="replace") as file:
        return file.read()


def _port(printed, process):
    """Returns the port that a server prints in its first line."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if found := re.match(r"port (\d+)\n", _text(printed)):
            return found[1]
        time.sleep(0.02)
    raise FailedCommand(f"the server printed no port: {_text(printed)[-200:]}")
