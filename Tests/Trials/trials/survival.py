"""Runs every situation untraced and traced, and compares what can be seen from outside: status, output, files,
descriptors, children, mapped memory. Writes docs/engineering/tables/survival.md. Tests/Trials/survival.json has the
known differences. Ends with 1 if there is any other difference."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from .documents import write_table
from .processes import environment, must
from .situations import IN_ALL_FORMS, Builder, situations
from .visits import ATTACHED, FORMS, INSPECTED, Visitor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KNOWN = os.path.join(ROOT, "Tests", "Trials", "survival.json")
# The recorder's processes end shortly after the program.
GRACE_SECONDS = 1.0
RUN_SECONDS = 90
VISITED_SECONDS = 3  # how long a program runs while it is inspected or attached to
NOT_POSSIBLE = 77  # the status of a situation that is not possible on this machine
# The situations of the short form: those that failed once, and a few of each kind.
SHORT = (
    "vfork_exec_many",
    "vfork_first_allocation",
    "raw_clone_namespace",
    "pid_namespace",
    "pid_namespace_alive",
    "fork_with_threads",
    "exec_environment",
    "wait_any",
    "child_signal",
    "ends_by_sigterm",
    "close_range_call",
    "descriptors_exhausted",
    "descriptors_taken",
    "file_size_none",
    "root_changed",
    "address_space_8m",
    "images_come_and_go",
    "every_call",
    "impossible_sizes",
    "threads_300_at_once",
    "signals_in_allocation",
    "coroutine_16k",
    "stack_misaligned",
    "errno_kept",
    "waits_survive_images",
    "filter_kills",
    "filter_over_threads",
    "filter_then_exec",
    "strict_mode",
    "calls_dispatched",
    "counter_faults",
    "processor_hidden",
)
# Situations of the short form that are not recorded, but inspected or attached to. They failed only in this form.
SHORT_FORMS = {
    "group_memory_limit": INSPECTED,
    "alone_in_its_memory": ATTACHED,
    "landlock": ATTACHED,
    "limited_sends": ATTACHED,
}


def say(text):
    print(f"survival: {text}", file=sys.stderr, flush=True)


@dataclasses.dataclass
class Seen:
    """The visible results of a run, and the process's own report of its resources at its end."""

    status: object
    output: str
    errors: str
    files: tuple
    left: tuple  # programs of its session that still ran after its end
    descriptors: tuple
    children: tuple
    images: tuple
    kilobytes: int
    remarks: tuple  # the recorder's lines on standard error
    visits: Visitor | None = None


def plain(text):
    """Removes the parts of a text that differ between any two runs."""
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    text = re.sub(r"==[0-9]+==", "==…==", text)
    text = re.sub(r"situation-\w{6}", "situation-…", text)
    text = re.sub(r"/directories/tmp\w{8}", "/directories/…", text)
    return re.sub(r"\b[0-9]{4,7}\b", "…", text)


def read_report(path):
    descriptors, children, images, kilobytes = [], [], set(), 0
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return (), (), (), 0
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "descriptor":
            number, target = rest.split(" ", 1)
            target = re.sub(r"/\S*/([^/]+)\.[0-9]+\.trace\S*", r"the trace of \1", target)
            descriptors.append(f"{number} {re.sub(r'[0-9]{3,}', '…', plain(target))}")
        elif kind == "children":
            children += ["child"] * len(rest.split())
        elif kind == "mapping":
            _, size, *names = rest.split(" ", 2)
            kilobytes += int(size)
            name = names[0].strip() if names else ""
            # Skip the recorder's library, the trace, and the memory shared with the process that writes an image.
            if name.startswith("/") and not re.search(r"libleaktrace|\.trace|^/dev/zero", name):
                images.add(plain(name))
    return tuple(sorted(descriptors)), tuple(children), tuple(sorted(images)), kilobytes


def members(leader):
    """Returns the running processes of a session, with their names."""
    found = {}
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
            fields = rest.split()
            if int(fields[3]) == leader and fields[0] not in "ZX":
                found[int(number)] = name
        except (FileNotFoundError, ProcessLookupError, ValueError, IndexError):
            continue
    return found


def end_session(leader):
    """Waits for the processes of a session to end, and kills the rest. Returns the names of the killed programs."""
    limit = time.monotonic() + GRACE_SECONDS
    while members(leader) and time.monotonic() < limit:
        time.sleep(0.02)
    left = set()
    for _ in range(3):
        found = members(leader)
        left.update(found.values())
        for number in found:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if not found:
            break
        time.sleep(0.05)
    return tuple(sorted(left))


def run(situation, prefix, scratch, traces, seconds=None, visitor=None, limit=RUN_SECONDS):
    """Runs a situation in an empty directory. `prefix`: words before its command. `seconds`: how long it lasts, if it
    can choose. `visitor` starts the visits. The situation is killed after `limit` seconds."""
    directory = tempfile.mkdtemp(dir=scratch)
    os.chmod(directory, 0o755)
    report = os.path.join(traces, os.path.basename(directory) + ".report")
    extra = {"SWIFT_BACKTRACE": "enable=no", **({"SITUATION_REPORT": report} if situation.is_reporting else {})}
    if seconds:
        extra["SITUATION_SECONDS"] = str(seconds)
    child = subprocess.Popen(
        [*prefix, *situation.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=directory,
        env=environment(extra),
        start_new_session=True,
    )
    visits = visitor(child.pid, directory, traces) if visitor else None
    try:
        output, errors = child.communicate(timeout=limit)
        status = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        end_session(child.pid)
        output, errors = child.communicate()
        status = "no end"
    if visits:
        visits.end()
    left = end_session(child.pid)
    lines = errors.decode(errors="replace").splitlines()
    files = tuple(sorted(plain(name) for name in os.listdir(directory)))
    shutil.rmtree(directory, ignore_errors=True)
    descriptors, children, images, kilobytes = read_report(report)
    if os.path.exists(report):
        os.unlink(report)
    return Seen(
        status,
        plain(output.decode(errors="replace")),
        plain("\n".join(line for line in lines if not line.startswith("leaktrace: "))),
        files,
        left,
        descriptors,
        children,
        images,
        kilobytes,
        tuple(line for line in lines if line.startswith("leaktrace: ")),
        visits,
    )


def status_text(status):
    if isinstance(status, int) and status < 0:
        return signal.Signals(-status).name if -status in list(signal.Signals) else f"signal {-status}"
    return str(status)


def differences(untraced, traced):
    found = []
    if traced.status != untraced.status:
        found.append(f"ends with {status_text(traced.status)}, not {status_text(untraced.status)}")
    for name in ("output", "errors", "files", "descriptors", "children", "images"):
        before, after = getattr(untraced, name), getattr(traced, name)
        if before == after or (name in ("descriptors", "children", "images") and traced.status != untraced.status):
            continue
        if isinstance(after, tuple):
            more, less = [x for x in after if x not in before], [x for x in before if x not in after]
            parts = [f"{word}: {', '.join(each[:3])}" for word, each in (("more", more), ("less", less)) if each] or [
                "another number"
            ]
            found.append(f"{name} ({'; '.join(parts)})")
        else:
            found.append(name)
    if set(traced.left) - set(untraced.left):
        found.append(f"leaves {', '.join(sorted(set(traced.left) - set(untraced.left)))}")
    if traced.visits:
        found += sorted(set(traced.visits.failures))
    return found


# Far more samples than usual, and several profiles during the situation.
LIGHT = ["--light", "--sample", "4KiB", "--profile-every", "1s"]


@dataclasses.dataclass
class Row:
    situation: object
    mode: str
    untraced: Seen
    traced: Seen
    differences: list
    reason: str = ""  # if it is known to differ


class Runner:
    def __init__(self, products, scratch, light, limit=RUN_SECONDS):
        self._leaktrace = os.path.join(products, "leaktrace")
        self._light, self._limit = light, limit
        self._directory = os.path.join(scratch, "directories")
        self._traces = os.path.join(scratch, "traces")
        for directory in (self._directory, self._traces):
            os.makedirs(directory, exist_ok=True)
            os.chmod(directory, 0o777)

    def _untraced(self):
        """Returns the words before a command that runs without the recorder."""
        return []

    def _traced(self, pattern, mode):
        """Returns the words before a command that is recorded to traces of this pattern."""
        options = LIGHT if self._light or mode == "light" else []
        if mode == "children followed":
            options = [*options, "--follow-children"]
        return [self._leaktrace, "record", "--quiet", *options, "--output", pattern, "--"]

    def row(self, situation, mode):
        """Compares runs of a situation. A difference counts if it occurs twice, and not between two untraced runs."""
        seconds = VISITED_SECONDS if mode in FORMS else None

        def alone():
            return run(situation, self._untraced(), self._directory, self._traces, seconds, limit=self._limit)

        for _ in range(2):
            untraced = traced = alone()
            if untraced.status == NOT_POSSIBLE:
                return Row(situation, mode, untraced, traced, [])
            with tempfile.TemporaryDirectory(dir=self._traces) as traces:
                os.chmod(traces, 0o777)
                traced = self._run_traced(situation, mode, traces, seconds)
            found = differences(untraced, traced)
            if not found:
                break
            own = differences(untraced, alone())
            found = [each for each in found if each not in own]
            if not found:
                break
        return Row(situation, mode, untraced, traced, found)

    def _run_traced(self, situation, mode, traces, seconds):
        if mode in FORMS:

            def visitor(process, directory, _):
                return Visitor(self._leaktrace, mode, process, directory, traces)

            places = (self._directory, self._traces)
            return run(situation, self._untraced(), *places, seconds, visitor, limit=self._limit)
        command = self._traced(os.path.join(traces, "%n.%p.trace"), mode)
        return run(situation, command, self._directory, self._traces, limit=self._limit)


def known():
    with open(KNOWN, encoding="utf-8") as file:
        return json.load(file)


def judge(row, reasons):
    """Sets the row's reason if all its differences are known."""
    found = []
    for one in row.differences:
        fitting = [
            each["reason"]
            for each in reasons
            if row.situation.name in each.get("names", [row.situation.name])
            and each.get("mode", row.mode) == row.mode
            and re.search(each["difference"], one)
        ]
        if not fitting:
            return
        found += [fitting[0]] if fitting[0] not in found else []
    row.reason = " ".join(found)


def verdict(row):
    if row.untraced.status == NOT_POSSIBLE:
        return "not run: not possible here"
    if not row.differences:
        return "as untraced"
    return f"known: {row.reason}" if row.reason else "**differs**: " + "; ".join(row.differences).replace("|", "\\|")


def remark(row):
    """Returns the recorder's messages in short."""
    if row.traced.visits:
        return row.traced.visits.remark()
    texts = " ".join(row.traced.remarks)
    for pattern, text in (
        ("recording stops here", "recording stops, and says so"),
        ("no heap images from here on", "no images from here on, and says so"),
        ("PID namespace of the program's children", "no image, and says so"),
        ("no heap snapshot was taken|snapshot is missing", "an image is missing, and the recorder says so"),
        ("recording stopped early", "recording stops, and says so"),
        ("not tracing", "not traced, and the recorder says so"),
        ("no trace was written", "no trace"),
        ("missing, made by signal handlers", "calls of handlers inside the recorder are counted, not recorded"),
    ):
        if re.search(pattern, texts):
            return text
    return re.sub(r"/\S*/(\S)", r"…/\1", "; ".join(row.traced.remarks))[:80]


def short_verdict(row):
    if row.untraced.status == NOT_POSSIBLE:
        return "not run"
    text = "known" if row.reason else verdict(row) if row.differences else "yes"
    if row.traced.visits is None:
        return text
    return f"{text}, {row.traced.visits.remark()}" if row.traced.visits.visits else f"{text}, refused"


def table_of_forms(rows):
    """Returns a table with a line for each situation and a column for each form."""
    lines = [
        f"### {rows[0].situation.group}, in all forms",
        "",
        "| situation | untraced | recorded | light | inspected | attached | notes |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row.situation.name for row in rows):
        forms = [row for row in rows if row.situation.name == name]
        notes = [row.reason for row in forms] + [
            remark(row) for row in forms if row.traced.visits is None or not row.traced.visits.visits
        ]
        if forms[0].untraced.status == NOT_POSSIBLE:
            notes = ["this machine cannot"]
        text = "; ".join(dict.fromkeys(note.rstrip(".") for note in notes if note)).replace("|", "\\|")
        cells = " | ".join(short_verdict(row) for row in forms)
        lines.append(
            f"| `{name}`: {forms[0].situation.text} | {status_text(forms[0].untraced.status)} | {cells} | {text} |"
        )
    return [*lines, ""]


def write_document(rows, seconds):
    differing = [row for row in rows if row.differences and not row.reason]
    impossible = sum(row.untraced.status == NOT_POSSIBLE for row in rows)
    lines = [
        f"{len(rows)} runs of {len({row.situation.name for row in rows})} situations: "
        f"{sum(not row.differences for row in rows) - impossible} as untraced, "
        f"{sum(bool(row.reason) for row in rows)} with a known difference, {len(differing)} with another one, "
        f"{impossible} not possible here.",
        "",
    ]
    for group in dict.fromkeys(row.situation.group for row in rows):
        if group in IN_ALL_FORMS:
            lines += table_of_forms([row for row in rows if row.situation.group == group])
            continue
        lines += [f"## {group}", "", "| situation | untraced | traced | the recorder |", "|---|---|---|---|"]
        for row in rows:
            if row.situation.group == group:
                mode = "" if row.mode == "alone" else f" ({row.mode})"
                lines.append(
                    f"| `{row.situation.name}`{mode}: {row.situation.text} | {status_text(row.untraced.status)} | {verdict(row)} | {remark(row)} |"
                )
        lines.append("")
    about = "Written by `scripts/survival`. [Survival](../survival.md) explains the comparison."
    path = write_table("survival", "Survival: all situations", about, lines)
    say(f"{path}: {seconds:.0f} s")


def modes(situation, options):
    if options.short:
        return [SHORT_FORMS.get(situation.name, "alone")]
    found = ["alone", *(["children followed"] if situation.follows else [])]
    if situation.has_all_forms and not options.light:
        found += ["light", *FORMS]
    return [each for each in found if not options.form or each in options.form]


def select(found, names, groups):
    """Returns the situations with these names and groups. Empty sets allow all. Exits if a name is unknown."""
    known_groups = {each.group for each in found}
    if unknown := (names or set()) - {each.name for each in found}:
        sys.exit(f"survival: no such situation: {', '.join(sorted(unknown))}")
    if unknown := groups - known_groups:
        sys.exit(f"survival: no such group: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known_groups))}")
    return [each for each in found if (not names or each.name in names) and (not groups or each.group in groups)]


def parse():
    parser = argparse.ArgumentParser(prog="scripts/survival", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these situations")
    parser.add_argument("--group", action="append", metavar="GROUP", help="only situations of this group")
    parser.add_argument("--short", action="store_true", help="a few of each kind, in less than a minute")
    parser.add_argument("--light", action="store_true", help="records with --light; writes no document")
    parser.add_argument(
        "--form",
        action="append",
        metavar="FORM",
        help="only this form: alone, children followed, light, inspected, attached",
    )
    parser.add_argument("--list", action="store_true", help="only lists the situations")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="number of situations that run in parallel (default: one for each processor)",
    )
    parser.add_argument(
        "--cache",
        metavar="DIR",
        default=os.path.join(ROOT, ".build", "survival"),
        help="where programs are built (default: .build/survival)",
    )
    parser.add_argument("--limit", type=int, default=RUN_SECONDS, metavar="SECONDS", help="time limit of a run")
    parser.add_argument("--products", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    begin = time.monotonic()
    os.makedirs(options.cache, exist_ok=True)
    toolchain = os.path.dirname(os.path.realpath(shutil.which("swift") or "/usr/bin/swift"))
    chosen = situations(Builder(options.cache, toolchain), must, options.short)
    short = {*SHORT, *(() if options.light else SHORT_FORMS)}
    wanted = set(options.names) or (short if options.short else None)
    chosen = select(chosen, wanted, set(options.group or ()))
    if options.list:
        for each in chosen:
            print(f"{each.group}\t{each.name}\t{each.text}")
        return
    work = [(each, mode) for each in chosen for mode in modes(each, options)]
    reasons, rows = [each for each in known() if options.light or not each.get("light")], []
    with tempfile.TemporaryDirectory(prefix="survival-") as scratch:
        os.chmod(scratch, 0o755)
        runner = Runner(os.path.abspath(options.products), scratch, options.light, options.limit)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda each: runner.row(*each), work):
                judge(row, reasons)
                rows.append(row)
                if row.differences and not row.reason:
                    say(
                        f"{row.situation.name} ({row.mode}): {'; '.join(row.differences)}; the recorder: {row.traced.remarks}"
                    )
    if not (options.names or options.group or options.short or options.light or options.form):
        write_document(rows, time.monotonic() - begin)
    differing = [row for row in rows if row.differences and not row.reason]
    say(
        f"{len(rows)} runs, {len(differing)} differ, {sum(bool(row.reason) for row in rows)} as is known, "
        f"{sum(row.untraced.status == NOT_POSSIBLE for row in rows)} not possible here, {time.monotonic() - begin:.0f} s"
    )
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
