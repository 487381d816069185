"""Inspects two servers while they answer requests, and checks that this does not disturb them.

Usage: servers.py LEAKTRACE SERVER TIMES KILLS
SERVER is the shop-server of Benchmarks/server. The other server is the toolchain's sourcekit-lsp. Inspects each server
TIMES times. Then kills KILLS inspectors at random moments. Prints a table with a row for each server. Fails if a
request fails, or if anything of an inspection remains.
"""

import http.client
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

# Time limit in seconds until a server answers, or until nothing of an inspection remains.
PATIENCE = 300
# Seconds of load before the first inspection, to fill caches.
WARM_UP = 10
# Inspectors are killed within this number of seconds. An inspection takes about one second.
LONGEST_INSPECTION = 1.2
# Seconds between two requests to sourcekit-lsp. It keeps some memory for each request. Without pauses, it would grow by
# a gigabyte in a quarter of an hour, even without inspections.
THINKING_TIME = 0.1


class Failed(Exception):
    """An inspection disturbed a server."""


class Load:
    """Sends requests to a server, each asker in its own thread, until `end`."""

    def __init__(self, askers: list[Callable[[], None]]) -> None:
        self.answers = 0
        self.failures: list[str] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=[asker], daemon=True) for asker in askers]
        for thread in self._threads:
            thread.start()

    def _run(self, ask: Callable[[], None]) -> None:
        while not self._ended.is_set():
            try:
                ask()
                with self._lock:
                    self.answers += 1
            except Exception as error:
                with self._lock:
                    self.failures.append(repr(error))
                return

    def check(self) -> None:
        if self.failures:
            raise Failed(f"a request failed: {self.failures[0]}")

    def await_answers(self, count: int) -> None:
        """Waits until the server has answered this number of further requests."""
        target = self.answers + count
        wait(lambda: self.answers >= target or bool(self.failures), "the server answers")
        self.check()

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        self.check()


def wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"not within {PATIENCE} seconds: {what}")
        time.sleep(0.01)


def status(process: int, field: str) -> str:
    with open(f"/proc/{process}/status") as file:
        found = re.search(rf"^{field}:\s*(.*)$", file.read(), re.MULTILINE)
    return found[1] if found else ""


def resident(process: int) -> int:
    """Returns the resident memory in KiB."""
    return int(status(process, "VmRSS").split()[0])


def descriptors(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def children(process: int) -> list[int]:
    """Returns all children, including dead ones."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == process:
                        found.append(int(entry))
            except (OSError, IndexError):
                continue
    return found


def disturbances(process: int, own: set[int]) -> list[str]:
    """Describes threads that are traced or stopped, and children other than the process's `own`."""
    found = []
    for path in [f"/proc/{child}" for child in set(children(process)) - own]:
        try:
            with open(f"{path}/stat") as file:
                found.append(f"child {file.read()[:60]}")
        except OSError:
            continue
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/status") as file:
                text = file.read()
        except OSError:
            continue
        if not re.search(r"^TracerPid:\s*0$", text, re.MULTILINE) or re.search(r"^State:\s*[Tt]", text, re.MULTILINE):
            found.append(f"thread {task}: {re.findall(r'^(?:State|TracerPid):.*$', text, re.MULTILINE)}")
    return found


def await_peace(process: int, own: set[int], what: str) -> None:
    try:
        wait(lambda: not disturbances(process, own), what)
    except Failed as failure:
        raise Failed(f"{failure}: {disturbances(process, own)}") from None


def inspect(leaktrace: str, process: int, directory: str) -> float:
    """Inspects a process. Returns the milliseconds for which it was stopped."""
    trace = os.path.join(directory, "inspection.lktrace")
    done = subprocess.run(
        [leaktrace, "inspect", str(process), "-o", trace], capture_output=True, text=True, check=False
    )
    if os.path.exists(trace):
        os.unlink(trace)
    pause = re.search(r"was stopped for ([\d.]+) ms", done.stderr)
    if done.returncode != 0 or pause is None:
        raise Failed(f"inspect ended with {done.returncode}: {done.stderr}")
    return float(pause[1])


def examine(name: str, leaktrace: str, process: int, load: Load, times: int, kills: int) -> None:
    time.sleep(WARM_UP)
    own = set(children(process))
    before, open_before, answers = resident(process), descriptors(process), load.answers
    pauses = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(times):
            pauses.append(inspect(leaktrace, process, directory))
            load.check()
    seconds = time.monotonic() - begin
    answered = load.answers - answers
    await_peace(process, own, "nothing is left of the inspections")
    after, open_after = resident(process), descriptors(process)
    for _ in range(kills):
        inspector = subprocess.Popen(
            [leaktrace, "inspect", str(process)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(random.uniform(0, LONGEST_INSPECTION))
        inspector.send_signal(signal.SIGKILL)
        inspector.wait()
        await_peace(process, own, "nothing is left of an inspector that was killed")
        load.await_answers(20)
    load.end()
    pauses.sort()
    print(
        f"| {name} | {times} in {seconds:.0f} s | {answered:,} | 0 | {statistics.median(pauses):.1f} ms |"
        f" {pauses[-1]:.1f} ms | {before / 1024:.1f} / {after / 1024:.1f} MiB | {open_before} / {open_after} |"
        f" {kills}, all went on |",
        flush=True,
    )


def shop(server: str, leaktrace: str, times: int, kills: int) -> None:
    with tempfile.TemporaryFile("w+") as printed:
        running = subprocess.Popen([server], stdout=printed, stderr=subprocess.DEVNULL)
        try:

            def port() -> int | None:
                printed.seek(0)
                found = re.search(r"^port (\d+)$", printed.read(), re.MULTILINE)
                return int(found[1]) if found else None

            wait(lambda: port() is not None, "the shop opens")
            number = port() or 0
            load = Load([asker(number) for _ in range(8)])
            examine("shop-server (hummingbird)", leaktrace, running.pid, load, times, kills)
        finally:
            running.kill()
            running.wait()


def asker(port: int) -> Callable[[], None]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    count = 0

    def ask() -> None:
        nonlocal count
        count += 1
        if count % 4 == 0:
            order = json.dumps({"product": count % 500, "quantity": 2, "customer": f"customer {count}"})
            connection.request("POST", "/orders", order, {"Content-Type": "application/json"})
        else:
            connection.request("GET", f"/products/{count % 500}")
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200 or not json.loads(body):
            raise Failed(f"status {answer.status}")

    return ask


class LanguageServer:
    """sourcekit-lsp with one open document."""

    def __init__(self, directory: str) -> None:
        program = shutil.which("sourcekit-lsp")
        if program is None:
            raise Failed("there is no sourcekit-lsp in PATH")
        # The real path, so that the child is the program itself and not a proxy.
        self.running = subprocess.Popen(
            [os.path.realpath(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=directory,
        )
        self._number = 0
        path = os.path.join(directory, "feed.swift")
        text = "\n".join(
            f'/// Item {n}.\nstruct Item{n} {{\n  var title = "item {n}"\n'
            f'  func shown() -> String {{ title + "!" }}\n}}'
            for n in range(200)
        )
        with open(path, "w") as file:
            file.write(text)
        self._document = {"uri": f"file://{path}"}
        self.ask("initialize", {"processId": os.getpid(), "rootUri": f"file://{directory}", "capabilities": {}})
        self._send({"method": "initialized", "params": {}})
        document = {**self._document, "languageId": "swift", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.running.stdin is not None
        self.running.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.running.stdin.flush()

    def _receive(self) -> dict[str, object]:
        assert self.running.stdout is not None
        length = 0
        while True:
            line = self.running.stdout.readline()
            if not line:
                raise Failed("sourcekit-lsp has ended")
            if line == b"\r\n":
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(self.running.stdout.read(length))
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, parameters: dict[str, object]) -> object:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                # A request from the server to the editor. Answer with null.
                self._send({"id": message["id"], "result": None})
            elif message.get("id") == number:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message.get("result")

    def ask_next(self) -> None:
        line = self._number % 200 * 5
        if self._number % 2 == 0:
            found = self.ask("textDocument/documentSymbol", {"textDocument": self._document})
        else:
            position = {"line": line + 3, "character": 8}
            found = self.ask("textDocument/hover", {"textDocument": self._document, "position": position})
            found = found or [None]
        if not found:
            raise Failed("an empty answer")
        time.sleep(THINKING_TIME)


def language_server(leaktrace: str, times: int, kills: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        server = LanguageServer(directory)
        try:
            load = Load([server.ask_next])
            load.await_answers(20)
            examine("sourcekit-lsp", leaktrace, server.running.pid, load, times, kills)
        finally:
            server.running.kill()
            server.running.wait()


def main() -> None:
    leaktrace, server, times, kills = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    columns = (
        "inspected",
        "requests in that time",
        "failed",
        "pause, median",
        "longest",
        "resident",
        "descriptors",
        "killed",
    )
    print("| server | " + " | ".join(columns) + " |")
    print("| -- | -- | -: | -: | -: | -: | -: | -: | -- |", flush=True)
    shop(server, leaktrace, times, kills)
    language_server(leaktrace, times, kills)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"servers: {failure}")
