"""Installs a release in clean roots of several distributions, and checks that it finds the leaks of five programs. Ends
with 1 if a check fails, and with 2 if a root cannot be made."""

import argparse
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from .documents import write_table
from .leaktrace import Analysis, Leaktrace
from .platform_checks import TOOLCHAIN, Site, Standing, build_swift, complaints_on_findings
from .processes import FailedCommand, Outcome, environment, must, run
from .roots import MAKING_SECONDS, PRIVATE, NoRoot, Root, mirror, reason_against
from .situations import PROGRAMS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
# Distributions, and whether their glibc is new enough for the command. If not, only the recorder runs there, and this
# machine reads its traces.
SUITES = {"bullseye": False, "bookworm": True, "trixie": True, "sid": True}
USERS = {"root": [], "an ordinary user": ["setpriv", "--reuid=1234", "--regid=1234", "--clear-groups"]}
PLACE = "/programs"
# A source file and a field. Reports can name them only from the program's file.
WORDS = ("platform.swift:", "Visit.next")
INSTALLING_SECONDS = 5
FIRST_FINDING_SECONDS = 60
ABOUT = (
    "The roots have neither Swift nor a compiler. The last column has the longest time from the start of the "
    "installation to the first finding. It includes recording and analysis."
)


def say(text):
    print(f"releases: {text}", file=sys.stderr, flush=True)


def clean_root(suite, directory):
    """Returns the path of a root with the minimum of packages. The first call makes it."""
    path, mark = os.path.join(directory, f"clean-{suite}"), os.path.join(directory, f"clean-{suite}.done")
    if os.path.exists(mark):
        return path
    address = mirror()
    if not address:
        raise NoRoot("apt's sources name no mirror of Debian")
    os.makedirs(directory, exist_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    try:
        bootstrap = ["debootstrap", "--variant=minbase", "--components=main", suite, path, address]
        must([*PRIVATE, *bootstrap], limit=MAKING_SECONDS)
    except FailedCommand as failure:
        raise NoRoot(f"debootstrap failed: {str(failure).splitlines()[-1]}") from failure
    with open(mark, "w"):
        pass
    return path


class Programs:
    """Compiles Tests/Programs/platform.swift in five ways. Each has its own directory, which is copied to the roots."""

    def __init__(self, directory, roots, leaktrace):
        self._directory, self._roots, self._leaktrace = directory, roots, leaktrace

    def build(self):
        """Returns the directories by name. Prints a message about each form that cannot be built, and leaves it out."""
        forms = {
            "static": self._static,
            "dynamic": self._dynamic,
            "jemalloc": self._jemalloc,
            "Swift 6.0.3": self._older,
        }
        forms["glibc 2.31"] = self._oldest_libc
        built = {}
        for name, make in forms.items():
            directory = os.path.join(self._directory, name.replace(" ", "-"))
            os.makedirs(directory, exist_ok=True)
            try:
                make(directory)
                built[name] = directory
            except (FailedCommand, FileNotFoundError) as failure:
                say(f"not built: {name}: {str(failure)[-200:]}")
        return built

    @staticmethod
    def _compile(directory, *flags):
        source = os.path.join(PROGRAMS, "platform.swift")
        compiler = os.path.join(TOOLCHAIN, "swiftc")
        must([compiler, "-O", "-g", "-parse-as-library", source, "-o", f"{directory}/platform", *flags], limit=600)

    def _static(self, directory):
        self._compile(directory, "-static-stdlib")

    def _dynamic(self, directory):
        self._compile(directory, "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN")
        runtime = os.path.join(os.path.dirname(TOOLCHAIN), "lib", "swift", "linux")
        for library in (
            *glob.glob(f"{runtime}/libswift*.so"),
            f"{runtime}/libdispatch.so",
            f"{runtime}/libBlocksRuntime.so",
        ):
            # libswiftRemoteMirror is part of the release.
            if "RemoteMirror" not in library:
                shutil.copy(library, directory)

    def _jemalloc(self, directory):
        library = glob.glob("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")[0]
        shutil.copy(library, directory)
        self._compile(directory, "-static-stdlib", "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN", library)

    def _older(self, directory):
        original = os.path.join(self._roots, "trixie")
        if not os.path.exists(f"{original}/usr/bin/swiftc"):
            raise FileNotFoundError("the root trixie of scripts/matrix, which has Swift 6.0.3, is not there")
        with tempfile.TemporaryDirectory() as scratch, entered(original, scratch) as root:
            shutil.copy(os.path.join(PROGRAMS, "platform.swift"), f"{root.path}/tmp/platform.swift")
            # The root has the C++ library, but not the link that the linker searches for.
            os.symlink("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", f"{root.path}/tmp/libstdc++.so")
            flags = ["-O", "-g", "-parse-as-library", "-static-stdlib", "-Xlinker", "-L/tmp"]
            flags += ["platform.swift", "-o", "platform"]
            must(root.command(["swiftc", *flags], "/tmp"), limit=600)
            shutil.copy(f"{root.path}/tmp/platform", directory)

    def _oldest_libc(self, directory):
        original = os.path.join(self._roots, "bullseye")
        if not os.path.exists(f"{original}/usr/bin/gcc"):
            raise FileNotFoundError("the root bullseye of scripts/matrix, which has a linker, is not there")
        shared = (directory, os.path.dirname(TOOLCHAIN))
        with tempfile.TemporaryDirectory() as scratch, entered(original, scratch, shared) as root:
            shutil.copy(build_swift(Site(root, directory, "", self._leaktrace)), f"{directory}/platform")


@contextlib.contextmanager
def entered(original, scratch, shared=()):
    """Mounts a root over `original` for the `with` block."""
    root = Root(original, scratch, shared)
    try:
        yield root
    finally:
        subprocess.run(["umount", "--recursive", "--lazy", root.path], stderr=subprocess.DEVNULL)


class Installed:
    """A release in a root. Each check returns complaints."""

    def __init__(self, root, command, library, user, program):
        self._root, self._command, self._library = root, command, library
        self._user, self._program = user, f"{PLACE}/{os.path.basename(program)}/platform"
        self._directory = tempfile.mkdtemp(prefix="run-", dir=f"{root.path}/tmp")
        os.chmod(self._directory, 0o777)
        self._inside = self._directory.removeprefix(root.path)

    def _line(self, words):
        return self._root.command([*self._user, *words], self._inside)

    def _run(self, *words, statuses=(0,)):
        outcome = run(self._line([self._command, *words]), limit=300)
        if outcome.status not in statuses:
            raise FailedCommand(f"{words[0]} ended with {outcome.status}: {outcome.output[-300:]}")
        return outcome.output

    def _judge(self, trace, factor=1):
        """Returns complaints about the findings of a trace. `factor`: how often the program has leaked."""
        document = subprocess.run(
            self._line([self._command, "analyze", "--format", "json", trace]), capture_output=True, env=environment()
        )
        if document.returncode not in (0, 4):
            return [f"analyze ended with {document.returncode}: {document.stderr.decode()[-300:]}"]
        outcome = Outcome(document.returncode, "", 0, 0, False)
        analysis = Analysis(outcome, 0, json.loads(document.stdout)["reports"][0])
        complaints = complaints_on_findings(analysis, factor) + ([analysis.reason] if analysis.reason else [])
        text = self._run("analyze", trace, statuses=(0, 4))
        return complaints + [f"the report lacks '{word}'" for word in WORDS if word not in text]

    def recorded(self):
        """`record` and `analyze`, then `report` and `check`."""
        self._run("record", "--quiet", "-o", "a.trace", "--", self._program, "end")
        complaints = self._judge("a.trace")
        self._run("report", "-o", "a.html", "a.trace")
        if os.path.getsize(f"{self._directory}/a.html") < 10_000:
            complaints.append("the page is empty")
        self._run("check", "--", self._program, "end", statuses=(1,))
        return complaints

    def light(self):
        """`record --light` and `analyze`."""
        self._run("record", "--light", "--quiet", "-o", "b.trace", "--", self._program, "end")
        return self._judge("b.trace")

    def inspected(self):
        """`inspect` of a running process."""
        with Standing(self._line([self._program, "wait"])) as standing:
            text = self._run("inspect", str(standing.process), statuses=(0, 1))
        return [] if "RETAIN CYCLE" in text and "Visit" in text else [f"inspect found no cycle: {text[:300]}"]

    def attached(self):
        """`attach`, more leaks, `detach` and `analyze`."""
        with Standing(self._line([self._program, "wait"])) as standing:
            self._run("attach", "-o", "c.trace", str(standing.process))
            standing.leak_again()
            self._run("snapshot", str(standing.process))
            self._run("detach", str(standing.process))
        return self._judge("c.trace", factor=2)

    def preloaded(self):
        """Only the recorder. This machine reads its trace."""
        variables = {"LD_PRELOAD": self._library, "LEAKTRACE_OUTPUT": f"{self._inside}/d.trace", "LEAKTRACE_QUIET": "1"}
        # Set after setpriv, so that setpriv is not recorded.
        settings = ["env", *(f"{name}={value}" for name, value in variables.items())]
        must(self._line([*settings, self._program, "end"]), limit=300)
        command = [
            self._root.path + self._command,
            "analyze",
            "--sysroot",
            self._root.path,
            f"{self._directory}/d.trace",
        ]
        text = must(command, limit=300)
        return [f"the report lacks '{word}'" for word in (*WORDS, "RETAIN CYCLE", "LOST") if word not in text]


def programs_of(suite, built):
    """Returns the programs that run with the suite's glibc."""
    older = {"bullseye": ("glibc 2.31",), "bookworm": ("static", "dynamic", "jemalloc", "glibc 2.31")}
    return {name: path for name, path in built.items() if name in older.get(suite, built)}


def files_of(root):
    """Returns all files of the root, except the tested programs, /proc, /sys, /dev, /tmp and /var."""
    left_out = f"-path {root.path}/proc -prune -o -path {root.path}/sys -prune -o -path {root.path}/dev -prune -o -path {root.path}/tmp -prune -o"
    left_out += f" -path {root.path}/var -prune -o -path {root.path}{PLACE} -prune -o"
    return set(must(["find", root.path, *left_out.split(), "-print"]).splitlines())


def archive_of(release):
    """Returns the path of the release's archive."""
    return glob.glob(f"{release}/leaktrace-*-linux-x86_64.tar.xz")[0]


def install(root, release, method):
    """Installs the release. Returns the command, the recorder, the command line that removes it, and the seconds."""
    archive = archive_of(release)
    begin = time.monotonic()
    if method == "deb":
        package = glob.glob(f"{release}/leaktrace_*_amd64.deb")[0]
        shutil.copy(package, f"{root.path}/tmp/leaktrace.deb")
        must(root.command(["apt-get", "install", "-y", "-q", "./leaktrace.deb"], "/tmp"), limit=120)
        where, removal = "/usr", root.command(["apt-get", "remove", "-y", "-q", "leaktrace"])
    elif method == "rpm":
        # --nodeps, since Debian's glibc is not in the database of RPM packages.
        package = glob.glob(f"{release}/leaktrace-*.x86_64.rpm")[0]
        # By default, Debian's rpm keeps its database in the user's home.
        rpm = ["rpm", "--root", root.path, "--dbpath", "/var/lib/rpm", "--nodeps"]
        must([*rpm, "--install", package], limit=120)
        where, removal = "/usr", [*rpm, "--erase", "leaktrace"]
    else:
        must(["tar", "-xJf", archive, "-C", f"{root.path}/opt"])
        where = "/opt/" + os.path.basename(archive).removesuffix(".tar.xz")
        removal = root.command(["rm", "-r", where])
    seconds = time.monotonic() - begin
    return f"{where}/bin/leaktrace", f"{where}/lib/leaktrace/libleaktrace.so", removal, seconds


def check_suite(suite, options, built):
    """Checks one distribution. Returns rows: method, user, program, check, complaints."""
    original = clean_root(suite, options.roots)
    rows = []
    for method in ("deb", "rpm", "tar") if SUITES[suite] else ("tar",):
        with tempfile.TemporaryDirectory() as scratch, entered(original, scratch) as root:
            for path in built.values():
                shutil.copytree(path, f"{root.path}{PLACE}/{os.path.basename(path)}")
            before = files_of(root)
            command, library, removal, seconds = install(root, options.release, method)
            late = [f"installing took {seconds:.1f} s"] if seconds > INSTALLING_SECONDS else []
            rows.append((method, "root", "", f"installed in {seconds:.1f} s", late))
            for user, prefix in USERS.items():
                for name, path in programs_of(suite, built).items():
                    site = Installed(root, command, library, prefix, path)
                    checks = (
                        (site.recorded, site.light, site.inspected, site.attached)
                        if SUITES[suite]
                        else (site.preloaded,)
                    )
                    for check in checks:
                        begin = time.monotonic()
                        try:
                            complaints = check()
                        except (FailedCommand, OSError, subprocess.SubprocessError) as failure:
                            complaints = [str(failure)]
                        spent = time.monotonic() - begin
                        words = check.__name__
                        if check == site.recorded:
                            words = f"first finding after {seconds + spent:.1f} s"
                            if seconds + spent > FIRST_FINDING_SECONDS:
                                complaints.append("too late")
                        rows.append((method, user, name, words, complaints))
                        say(f"{suite}, {method}, {user}, {name}, {check.__name__}: {'; '.join(complaints) or 'yes'}")
            must(removal, limit=120)
            left = files_of(root) - before
            rows.append((method, "root", "", "removed", [f"left behind: {path}" for path in sorted(left)[:5]]))
    return rows


def table(results):
    """Returns all rows as Markdown."""
    lines = ["| distribution | installed by | user | program | check | passed |", "| -- | -- | -- | -- | -- | -- |"]
    for suite, rows in results.items():
        for method, user, program, check, complaints in rows:
            lines.append(f"| {suite} | {method} | {user} | {program} | {check} | {'; '.join(complaints) or 'yes'} |")
    return "\n".join(lines) + "\n"


def summary(results):
    """Returns a Markdown table with a row for each distribution and method: checks, and the longest times."""
    lines = ["| distribution | installed by | checks passed | installed in | first finding after |"]
    lines.append("| -- | -- | -- | -- | -- |")
    for suite, rows in results.items():
        for method in dict.fromkeys(row[0] for row in rows):
            own = [row for row in rows if row[0] == method]
            times = [
                max((float(row[3].split()[-2]) for row in own if row[3].startswith(start)), default=None)
                for start in ("installed in", "first finding after")
            ]
            shown = " | ".join("" if seconds is None else f"{seconds:.1f} s" for seconds in times)
            lines.append(f"| {suite} | {method} | {sum(not row[-1] for row in own)} of {len(own)} | {shown} |")
    return "\n".join(lines) + "\n"


def main():
    """Checks a release, and prints the outcomes. Writes the summary if all distributions were checked."""
    parser = argparse.ArgumentParser(prog="scripts/check-release", description=__doc__)
    parser.add_argument("release", help="the output folder of scripts/package")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"only these, of {', '.join(SUITES)}")
    parser.add_argument(
        "--roots", default=os.path.join(ROOT, ".build", "roots"), metavar="DIR", help="the directory of the roots"
    )
    options = parser.parse_args()
    options.release = os.path.abspath(options.release)
    if "LEAKTRACE_INSIDE" not in os.environ:
        if reason := reason_against():
            sys.exit(f"check-release: {reason}")
        os.environ["LEAKTRACE_INSIDE"] = "1"
        os.execvp(PRIVATE[0], [*PRIVATE, sys.executable, "-B", "-m", "trials.releases", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as directory:
        must(["tar", "-xJf", archive_of(options.release), "-C", directory])
        unpacked = glob.glob(f"{directory}/leaktrace-*/bin")[0]
        built = Programs(directory, options.roots, Leaktrace(unpacked)).build()
        results, missing = {}, False
        for suite in options.suites or SUITES:
            try:
                results[suite] = check_suite(suite, options, built)
            except NoRoot as reason:
                say(f"{suite}: not checked: {reason}")
                missing = True
    print(table(results))
    print(summary(results))
    if not options.suites and not missing:
        write_table("releases", "Releases in clean roots", ABOUT, summary(results).splitlines())
    failed = any(row[-1] for rows in results.values() for row in rows)
    passed = sum(not row[-1] for rows in results.values() for row in rows)
    total = sum(map(len, results.values()))
    print(f"{passed} passed, {total - passed} failed")
    sys.exit(1 if failed else 2 if missing else 0)


if __name__ == "__main__":
    main()
