"""The figures of a heap snapshot, as the Memory panel of Chrome's DevTools works them out.

Usage: devtools.py FILE.heapsnapshot

A browser without a window opens its own DevTools page, whose parts read the file. Prints a JSON object: `types` has
blocks and bytes by the name that the panel lists them by, `lost` the retained bytes of the node above what no root
keeps, `instances` blocks and retained bytes by name of the nodes that it alone dominates, `withoutDistance` the blocks
that no root leads to, `problems` what DevTools complained of.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PAGE = "devtools://devtools/bundled/devtools_app.html"
# Characters of the file in one message.
PIECE = 1 << 20
# Seconds that the browser has for all of it.
TIMEOUT = 120
# Above the descriptors that the browser talks over.
FREE_DESCRIPTOR = 10

# DevTools hands half of the work to a second thread; here it stays in one. Roots, the node above them and the one above
# what no root keeps are no blocks.
READ = """
async function () {
  const worker = await import('devtools://devtools/bundled/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js');
  const problems = [];
  const dispatcher = {sendEvent(name, text) { if (name === 'BrokenSnapshot') problems.push(text); }};
  const loader = new worker.HeapSnapshotLoader.HeapSnapshotLoader(dispatcher);
  for (const piece of globalThis.pieces) loader.write(piece);
  loader.close();
  await loader.parsingComplete;
  const ports = new MessageChannel();
  const second = new worker.HeapSnapshot.SecondaryInitManager(ports.port2);
  const snapshot = await loader.buildSnapshot(ports.port1);
  const root = snapshot.rootNode();
  const roots = new Set([root.nodeIndex]);
  let lost = null;
  for (const edges = root.edges(); edges.hasNext(); edges.next()) {
    const node = edges.edge.node();
    roots.add(node.nodeIndex);
    if (node.name() === '(no root leads here)') lost = {index: node.nodeIndex, bytes: node.retainedSize()};
  }
  const types = {}, instances = {};
  const add = (table, name, bytes) => {
    table[name] ??= {blocks: 0, bytes: 0};
    table[name].blocks += 1;
    table[name].bytes += bytes;
  };
  // DevTools counts from here where it has no way from a node that is not synthetic.
  const systemDistance = 100000000;
  let withoutDistance = 0;
  for (const nodes = snapshot.allNodes(); nodes.hasNext(); nodes.next()) {
    const node = nodes.node;
    if (roots.has(node.nodeIndex)) continue;
    add(types, node.className(), node.selfSize());
    if (node.distance() < 0 || node.distance() >= systemDistance) withoutDistance += 1;
    if (node.dominatorIndex() === lost.index) add(instances, node.className(), node.retainedSize());
  }
  return JSON.stringify({types, instances, lost: lost.bytes, withoutDistance, problems});
}
"""


class Browser:
    """A browser and one page of it, over a pair of pipes."""

    _session = None

    def __init__(self, profile):
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        theirs = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, FREE_DESCRIPTOR) for descriptor in (commands, answers)]
        options = ["--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        # The browser's own sandbox does not run as root.
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}',
                "bash",
                "chromium",
                *options,
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for descriptor in (commands, answers, *theirs):
            os.close(descriptor)
        self._number = 0
        self._buffer = b""
        target = self.send("Target.createTarget", url=PAGE)["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # What is called before the page is there is lost with the page before it.
        while self._value("location.href + document.readyState") != PAGE + "complete":
            time.sleep(0.05)

    def send(self, method, **parameters):
        """Calls a method of the protocol, and waits for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._commands, rest) :]
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise SystemExit(f"devtools: {method}: {answer['error']}")
                return answer["result"]

    def _message(self):
        while b"\0" not in self._buffer:
            part = os.read(self._answers, 1 << 16)
            if not part:
                raise SystemExit("devtools: the browser has ended")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _value(self, expression):
        return self.send("Runtime.evaluate", expression=expression)["result"].get("value")

    def call(self, function, *arguments):
        """What a function of JavaScript returns, once its promise is kept."""
        context = self.send("Runtime.evaluate", expression="globalThis")["result"]["objectId"]
        answer = self.send(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            objectId=context,
            arguments=[{"value": argument} for argument in arguments],
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise SystemExit(f"devtools: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def close(self):
        os.close(self._commands)
        os.close(self._answers)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._process.kill()
        self._process.wait()


def main(path):
    # Ends this process, and with its pipes the browser.
    signal.alarm(TIMEOUT)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            browser.call("function () { globalThis.pieces = []; }")
            for start in range(0, len(text), PIECE):
                browser.call("function (piece) { globalThis.pieces.push(piece); }", text[start : start + PIECE])
            print(browser.call(READ))
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
