"""The files of a release, made of built products."""

import hashlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


class Release:
    """An archive in the layout of a release, with its checksum beside it."""

    def __init__(self, products: Path, folder: Path) -> None:
        self.folder = folder
        command = products / "leaktrace"
        process = subprocess.run([command, "--version"], stdout=subprocess.PIPE, check=True, text=True)
        self.version = process.stdout.strip()
        root = f"leaktrace-{self.version}-linux-x86_64"
        self.archive = folder / f"{root}.tar.xz"
        with tarfile.open(self.archive, "w:xz", preset=0) as archive:
            archive.add(command, f"{root}/bin/leaktrace")
            archive.add(products / "libleaktrace.so", f"{root}/lib/leaktrace/libleaktrace.so")
        content = self.archive.read_bytes()
        self.hash = hashlib.sha256(content).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{'0' * 64}  other.tar.xz\n{self.hash}  {self.archive.name}\n")

    def copy(self, to: Path) -> Path:
        """Returns a folder with the same files, for a test to change."""
        shutil.copytree(self.folder, to)
        return to


def empty_archive(path: Path, names: list[str]) -> str:
    """Writes an archive of empty files. Returns its checksum."""
    with tarfile.open(path, "w:xz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return hashlib.sha256(path.read_bytes()).hexdigest()
