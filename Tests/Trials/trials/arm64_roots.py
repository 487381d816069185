"""A clean root directory of Debian 13 for arm64, without Swift and without a compiler."""

import os
import shutil

from . import emulation
from .processes import FailedCommand, must
from .roots import MAKING_SECONDS, PRIVATE, NoRoot, mirror

SUITE = "trixie"
CONFIGURING_SECONDS = 3600
MEGABYTES = 4096
PACKED = "root.tar"
MOUNTED = ("proc", "sys", "dev")
# Packages are configured on a machine that runs arm64 programs.
CONFIGURE = f"""export PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive
run configure {CONFIGURING_SECONDS} /debootstrap/debootstrap --second-stage
rm -rf /var/cache/apt/archives/*.deb /var/lib/apt/lists/*
tar -C / --one-file-system --exclude=./init --exclude=.{emulation.ANSWERS} -cf {emulation.ANSWERS}/{PACKED} .
export PATH=/usr/bin"""


def clean_root(root: str, directory: str) -> str:
    """Returns the path of the root in `directory`. The first call makes it."""
    path = os.path.join(directory, f"clean-{SUITE}-arm64")
    mark = f"{path}.done"
    if os.path.exists(mark):
        return path
    address = mirror()
    if not address:
        raise NoRoot("apt's sources name no mirror of Debian")
    work = os.path.join(emulation.WORK, "clean-root")
    unpacked, answers = os.path.join(work, "unpacked"), os.path.join(work, "answers")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(answers)
    bootstrap = ["debootstrap", "--foreign", "--arch=arm64", "--variant=minbase", "--components=main"]
    try:
        must([*PRIVATE, *bootstrap, SUITE, unpacked, address], limit=MAKING_SECONDS)
        for name in MOUNTED:
            # debootstrap makes some of them links.
            place = os.path.join(unpacked, name)
            if os.path.islink(place):
                os.remove(place)
            os.makedirs(place, exist_ok=True)
        machine = emulation.Machine(root, work, tree=unpacked, megabytes=MEGABYTES)
        emulation.say("configuring the packages of a clean root in an emulated machine; this takes some minutes")
        machine.run(emulation.fetch_kernel(root), [CONFIGURE], answers, limit=CONFIGURING_SECONDS)
        with open(os.path.join(answers, "configure.status"), encoding="utf-8") as file:
            status = file.read().strip()
        if status != "0":
            with open(os.path.join(answers, "configure.out"), encoding="utf-8", errors="replace") as file:
                raise NoRoot(f"debootstrap ended with status {status}: {file.read()[-300:]}")
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        must(["tar", "-xpf", os.path.join(answers, PACKED), "-C", path])
        for name in MOUNTED:
            os.makedirs(os.path.join(path, name), exist_ok=True)
    except FailedCommand as failure:
        raise NoRoot(f"the root could not be made: {str(failure).splitlines()[-1]}") from failure
    shutil.rmtree(work)
    with open(mark, "w", encoding="utf-8"):
        pass
    return path
