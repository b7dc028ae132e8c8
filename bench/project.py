"""The repository the servers work in."""

from __future__ import annotations

import subprocess
from pathlib import Path

FILES_PER_FOLDER = 50
LINES = 60
NEEDLE_NAME = "needle_in_the_haystack"
MEGABYTE = "one_megabyte"


def build(folder: Path, files: int) -> None:
    """A git repository with `files` Python files in one commit, one of them holding a unique name."""
    for number in range(files):
        path = file(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_content(number))
    file(folder, files // 2).with_name(f"{NEEDLE_NAME}.py").write_text(f"{NEEDLE_NAME} = True\n")
    commit(folder)


def large(folder: Path, files: int) -> None:
    """The same with a file of a megabyte beside the folders."""
    folder.mkdir()
    lines = (f"{MEGABYTE}_{number:05} = {number}\n" for number in range(38_000))
    (folder / f"{MEGABYTE}.py").write_text("".join(lines))
    build(folder, files)


def commit(folder: Path) -> None:
    """Make a folder a git repository with its files in one commit."""
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "All files")


def reset(folder: Path) -> None:
    """Undo whatever a server left in the working tree."""
    _git(folder, "reset", "--quiet", "--hard")
    _git(folder, "clean", "--quiet", "-dfx")


def file(folder: Path, number: int) -> Path:
    return folder / f"package_{number // FILES_PER_FOLDER:04}" / f"module_{number:05}.py"


def line(number: int, index: int) -> str:
    """A line that is in one file once."""
    return f"value_{index:03}_of_{number:05} = {index}"


def _content(number: int) -> str:
    return "".join(f"{line(number, index)}\n" for index in range(LINES))


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True)
