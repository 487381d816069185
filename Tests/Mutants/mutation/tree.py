"""The copy of the repository that holds all mutants. Its build folder stays from run to run."""

import os
import shutil
import subprocess

from .mutants import Mutant
from .sources import mutated_text, numbered, read

# Folders of fetched packages. The copy uses them, too.
_FETCHED = ("formats", "python", "python-server")
# Not tracked, but it fixes the versions of dependencies.
_RESOLVED = "Package.resolved"


def tracked_files(root: str) -> list[str]:
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True).stdout
    files = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    return [file for file in files if os.path.lexists(os.path.join(root, file))]


def _write(path: str, contents: bytes, mode: int) -> None:
    """Leaves an equal file alone, so that it is not built again."""
    try:
        with open(path, "rb") as file:
            is_equal = file.read() == contents
    except FileNotFoundError:
        is_equal = False
    if not is_equal:
        with open(path, "wb") as file:
            file.write(contents)
    if os.stat(path).st_mode & 0o777 != mode:
        os.chmod(path, mode)


def _copy_file(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(target) or os.path.islink(source):
        if os.path.lexists(target):
            os.remove(target)
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
            return
    with open(source, "rb") as file:
        contents = file.read()
    _write(target, contents, os.stat(source).st_mode & 0o777)


def _remove_others(tree: str, kept: set[str]) -> None:
    for directory, folders, files in os.walk(tree):
        if directory == tree:
            folders[:] = [folder for folder in folders if folder not in (".git", ".build")]
        for file in files:
            path = os.path.join(directory, file)
            if os.path.relpath(path, tree) not in kept:
                os.remove(path)


def _index(tree: str, files: list[str]) -> None:
    """Makes the copy a repository of its own: some tests ask for one."""
    if not os.path.exists(os.path.join(tree, ".git")):
        subprocess.run(["git", "init", "--quiet", tree], check=True)
    names = b"\0".join(os.fsencode(file) for file in files)
    command = ["git", "-C", tree, "add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"]
    subprocess.run(command, input=names, check=True)


def copy(root: str, tree: str, mutants: tuple[Mutant, ...]) -> None:
    """Makes the copy equal to the tracked files, and puts the mutants in."""
    files = tracked_files(root)
    mutated = {mutant.file for mutant in mutants}
    os.makedirs(os.path.join(tree, ".build"), exist_ok=True)
    _remove_others(tree, {*files, _RESOLVED})
    for file in files:
        source, target = os.path.join(root, file), os.path.join(tree, file)
        if file in mutated:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            text = mutated_text(read(root, file), numbered(mutants), file)
            _write(target, text.encode(), os.stat(source).st_mode & 0o777)
        else:
            _copy_file(source, target)
    _index(tree, files)
    resolved = os.path.join(root, _RESOLVED)
    if os.path.exists(resolved):
        shutil.copyfile(resolved, os.path.join(tree, _RESOLVED))
    for folder in _FETCHED:
        fetched, link = os.path.join(root, ".build", folder), os.path.join(tree, ".build", folder)
        if os.path.isdir(fetched) and not os.path.lexists(link):
            os.symlink(fetched, link)
