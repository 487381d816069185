"""Installs a release for arm64 in a clean root of Debian 13, in an emulated machine, and runs its commands there.

Ends with 1 if a check fails, with 2 if the root cannot be made.
"""

import argparse
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys

from . import arm64_commands, arm64_roots, emulated_python, emulation
from .processes import FailedCommand, must
from .roots import NoRoot

WORK = os.path.join(emulation.WORK, "releases")
# In the machine.
RELEASE, PROGRAMS = "/release", "/programs"
USER = 1234
# The programs contain Swift's runtime, since the root has none. Static Foundation has no source of its time zones there.
BUILT = ("platform-O", "platform-Onone", "cases-O")
# Checks of `guest_commands` that need no other program. Only root can choose where the kernel writes cores.
OF_USER = ("doctor", "recorded-O", "light-O", "attached-O", "inspected-O", "checked", "controlled")
OF_ROOT = (*OF_USER, "recorded-Onone", "attached-Onone", "core-O", "children", "joined")
FEW = ("recorded-O", "attached-O", "inspected-O")
INSTALLING_SECONDS, RUN_SECONDS = 300, 3600
ADMIN = "env PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive"
# Directories that are not compared, since packages or checks change them.
OF_OTHERS = (RELEASE, PROGRAMS, emulation.ANSWERS, "/opt", "/rpm", "/proc", "/sys", "/dev", "/tmp", "/var", "/root")


def the_only(pattern: str) -> str:
    found = glob.glob(pattern)
    if len(found) != 1:
        raise FailedCommand(f"{len(found)} files match {pattern}")
    return found[0]


def unpack(release: str, directory: str) -> dict[str, str]:
    """Unpacks the archive and the packages in a directory. Returns the folders of their files by format."""
    shutil.rmtree(directory, ignore_errors=True)
    trees = {name: os.path.join(directory, name) for name in ("archive", "rpm", "deb")}
    for path in trees.values():
        os.makedirs(path)
    must(["tar", "-xJf", the_only(f"{release}/leaktrace-*-linux-aarch64.tar.xz"), "-C", trees["archive"]])
    rpm = ["rpm", "--root", trees["rpm"], "--dbpath", "/var/lib/rpm", "--nodeps", "--ignorearch", "--install"]
    must([*rpm, the_only(f"{release}/leaktrace-*.aarch64.rpm")])
    must(["dpkg-deb", "-x", the_only(f"{release}/leaktrace_*_arm64.deb"), trees["deb"]])
    return {
        "archive": the_only(f"{trees['archive']}/*"),
        "rpm": os.path.join(trees["rpm"], "usr"),
        "deb": os.path.join(trees["deb"], "usr"),
    }


def unpack_image(release: str, directory: str) -> str:
    """Builds the image of scripts/ci/Containerfile for arm64. Returns a directory with its files."""
    storage, files = os.path.join(directory, "storage"), os.path.join(directory, "image")
    os.makedirs(files)
    builder = f"buildah --root {shlex.quote(storage)} --runroot {shlex.quote(storage)}-run --storage-driver vfs"
    source = os.path.join(emulation.ROOT, "scripts", "ci", "Containerfile")
    options = "--platform linux/arm64 --build-arg PROCESSOR=aarch64"
    lines = [
        f"{builder} build {options} --isolation chroot -q -f {source} -t leaktrace {shlex.quote(release)}",
        f"{builder} inspect --type image --format '{{{{.OCIv1.Architecture}}}}' leaktrace | grep -qx arm64",
        f"container=$({builder} from --pull-never localhost/leaktrace)",
        f'cp -a "$({builder} mount "$container")/." {shlex.quote(files)}',
        f'{builder} umount "$container"',
    ]
    must(["unshare", "--mount", "bash", "-euc", "\n".join(lines)])
    shutil.rmtree(storage, ignore_errors=True)
    return files


def compare(trees: dict[str, str]) -> list[str]:
    """Checks that the packages and the image have the archive's files. In the Debian package, manual pages are
    compressed."""
    found = {}
    for name, tree in trees.items():
        digests = must(["sh", "-c", 'cd "$0" && find bin lib share -type f | sort | xargs sha256sum', tree])
        found[name] = {path for path in digests.splitlines() if "/man/" not in path}
    complaints = []
    for name in trees.keys() - {"archive"}:
        if different := found[name] ^ found["archive"]:
            complaints.append(f"the files of {name} and of the archive differ: {sorted(different)[:4]}")
    return complaints


def checksums(release: str) -> list[str]:
    """Checks that SHA256SUMS has the right sum of each file of the release."""
    must(["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"], directory=release)
    with open(os.path.join(release, "SHA256SUMS"), encoding="utf-8") as file:
        named = {line.split()[1] for line in file}
    there = {os.path.basename(path) for path in glob.glob(f"{release}/leaktrace*")}
    return [] if named == there else [f"SHA256SUMS: {sorted(named ^ there)}"]


def check_line(name: str, command: str, checks: tuple[str, ...], user: int) -> list[str]:
    """Returns lines of the machine's script that run checks with an installed command, as root or as another user."""
    directory = f"{emulation.ANSWERS}/{name}"
    arguments = ["--command", command, "--programs", PROGRAMS, "--sources", arm64_commands.PROGRAMS]
    line = emulated_python.trial_line(
        name, RUN_SECONDS, "trials.guest_commands", [*arguments, "--directory", directory, *checks]
    )
    if user:
        words = f"setpriv --reuid={user} --regid={user} --clear-groups env HOME=/tmp"
        line = line.replace(" env ", f" {words} ", 1)
    return [f"mkdir -m 777 {directory}", line]


def script(package: str, folder: str) -> list[str]:
    """Returns lines that install the release, run the checks, and remove it."""
    prune = " -o ".join(f"-path {path} -prune" for path in OF_OTHERS)
    files = f"find / -xdev \\( {prune} \\) -o -print | sort"
    lines = [f"chmod 1777 /tmp {emulation.ANSWERS}", f"{files} >{emulation.ANSWERS}/before"]
    lines.append(f"run install {INSTALLING_SECONDS} {ADMIN} dpkg -i {RELEASE}/{package}")
    lines += check_line("deb-root", "/usr/bin/leaktrace", OF_ROOT, 0)
    lines += check_line("deb-user", "/usr/bin/leaktrace", OF_USER, USER)
    lines.append(f"run remove {INSTALLING_SECONDS} {ADMIN} dpkg --purge leaktrace")
    lines.append(f"{files} >{emulation.ANSWERS}/after")
    lines += check_line("rpm-root", "/rpm/usr/bin/leaktrace", FEW, 0)
    lines += check_line("archive-user", f"/opt/{folder}/bin/leaktrace", FEW, USER)
    return lines


def check(root: str, release: str, roots: str) -> list[str]:
    clean = arm64_roots.clean_root(root, roots)
    trees = unpack(release, os.path.join(WORK, "unpacked"))
    trees["image"] = unpack_image(release, os.path.join(WORK, "unpacked"))
    complaints = checksums(release) + compare(trees)
    must([os.path.join(emulation.ROOT, "scripts", "check-glibc"), trees["archive"]])
    for name in BUILT:
        source, options = arm64_commands.BUILT[name]
        product = os.path.join(WORK, "programs", name, name.split("-")[0])
        emulation.compile_swift(root, [source], product, [*options, "-static-stdlib"], is_static=True)
    packages = emulated_python.fetch(root)
    machine = emulation.Machine(
        root, os.path.join(WORK, "machine"), *packages, tree=clean, megabytes=arm64_roots.MEGABYTES
    )
    emulated_python.add(machine, packages)
    emulated_python.add_trials(machine)
    for name in BUILT:
        program = name.split("-")[0]
        machine.add(os.path.join(WORK, "programs", name, program), f"{PROGRAMS}/{name}/{program}")
    machine.add(arm64_commands.BUILT["platform-O"][0])
    package, folder = the_only(f"{release}/leaktrace_*_arm64.deb"), os.path.basename(trees["archive"])
    machine.add(package, f"{RELEASE}/{os.path.basename(package)}")
    machine.add_all(trees["rpm"], "/rpm/usr")
    machine.add_all(trees["archive"], f"/opt/{folder}")
    answers = os.path.join(WORK, "answers")
    shutil.rmtree(answers, ignore_errors=True)
    os.makedirs(answers)
    emulation.say("booting a machine with the clean root")
    lines = script(shlex.quote(os.path.basename(package)), folder)
    machine.run(emulation.fetch_kernel(root), lines, answers, limit=2 * RUN_SECONDS)
    return complaints + judge(answers)


def judge(answers: str) -> list[str]:
    complaints = []
    for step in ("install", "remove"):
        texts = {}
        for ending in ("status", "out", "err"):
            with open(os.path.join(answers, f"{step}.{ending}"), encoding="utf-8", errors="replace") as file:
                texts[ending] = file.read()
        if texts["status"].strip() != "0":
            complaints.append(f"{step}: status {texts['status'].strip()}: {texts['out'][-300:]}{texts['err'][-300:]}")
    lists = []
    for name in ("before", "after"):
        with open(os.path.join(answers, name), encoding="utf-8") as file:
            lists.append(set(file.read().splitlines()))
    if left := sorted(lists[1] - lists[0]):
        complaints.append(f"left behind: {left[:5]}")
    for name, expected in (("deb-root", OF_ROOT), ("deb-user", OF_USER), ("rpm-root", FEW), ("archive-user", FEW)):
        path = os.path.join(answers, name, "results.json")
        if not os.path.exists(path):
            with open(os.path.join(answers, f"{name}.err"), encoding="utf-8", errors="replace") as file:
                complaints.append(f"{name}: the checks did not run: {file.read()[-500:]}")
            continue
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        for check_name, result in results.items():
            print(
                f"{name:14} {check_name:16} {result['seconds']:7.1f} s  {'FAILED' if result['complaints'] else 'yes'}"
            )
            complaints += [f"{name}: {check_name}: {text}" for text in result["complaints"]]
        complaints += [f"{name}: {each} did not run" for each in expected if each not in results]
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/check-release --arm64", description=__doc__)
    parser.add_argument("release", help="the folder that scripts/package has filled")
    usual = os.path.join(emulation.ROOT, ".build", "roots")
    parser.add_argument("--roots", default=usual, metavar="DIR", help="where the roots are")
    options = parser.parse_args()
    try:
        complaints = check(emulation.root_directory(), os.path.abspath(options.release), os.path.abspath(options.roots))
    except NoRoot as reason:
        emulation.say(f"not checked: {reason}")
        return 2
    except (emulation.NotReady, FailedCommand, subprocess.SubprocessError) as failure:
        complaints = [str(failure)]
    for text in complaints:
        emulation.say(text)
    print(f"complaints: {len(complaints)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
