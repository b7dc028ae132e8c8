"""What git says about a folder, and making one a repository."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sessions.core.git import GitError, clean_environment, run_git

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Repository:
    worktree: Path
    is_git: bool

    @classmethod
    def of(cls, directory: Path) -> Repository:
        """The repository around a folder, or the folder itself where there is none.

        Raises NotADirectoryError or FileNotFoundError for a path that is no folder.
        """
        real = top = os.path.realpath(directory, strict=True)  # as texts: each request of the API asks
        if not os.path.isdir(real):
            raise NotADirectoryError(f"{real} is not a folder")
        while not os.path.exists(f"{top}/.git"):
            above = os.path.dirname(top)
            if above == top:
                return cls(Path(real), False)
            top = above
        is_git = top != "/" and Path(top) != Path.home()
        return cls(Path(top if is_git else real), is_git)

    def is_linked(self) -> bool:
        """Whether it is a git worktree of a repository elsewhere (gitrepository-layout(5), `worktrees`)."""
        try:
            target = (self.worktree / ".git").read_text("utf-8", "surrogateescape")
        except OSError:  # a folder, or nothing
            return False
        return Path(target.removeprefix("gitdir:").strip()).parent.name == "worktrees"

    def link_again(self, worktrees: Sequence[Path]) -> None:
        """After it was moved: git worktrees of it in other folders name the place where it was."""
        there = [str(folder) for folder in worktrees if folder.is_dir()]
        if not there:
            return
        try:
            run_git(["worktree", "repair", "--", *there], cwd=self.worktree, seconds=10)
        except GitError as error:
            logger.warning("worktrees of a repository that was moved are not linked to it again: %s", error)

    def root_commit(self) -> str:
        """The first commit, empty where there is none. It asks git, which takes milliseconds."""
        if not self.is_git:
            return ""
        # safe.directory: a repository of another owner is only read, and this runs nothing of it.
        asked = ["-c", "safe.directory=*", "rev-list", "--max-parents=0", "HEAD"]
        command = ["git", "-C", str(self.worktree), *asked]
        try:
            done = subprocess.run(
                command, env=clean_environment(), capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        found = done.stdout.split()
        return found[-1] if found else ""


def make_repository(directory: Path) -> None:
    """`git init`, with the user's own configuration (the name of the first branch, templates).

    Raises OSError with what git said.
    """
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "init", "--quiet", "--", str(directory)]
    try:
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, errors="replace", timeout=30, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(None, "git init took longer than 30 seconds") from error
    if done.returncode:
        raise OSError(None, done.stderr.strip() or "git init failed")


def branch_of(directory: Path) -> str:
    """The branch that is checked out around a folder, read from its files without asking git; empty where
    there is none, or nothing can be read."""
    try:
        top = Repository.of(directory)
        place = top.worktree / ".git"
        if not top.is_git:
            return ""
        if place.is_file():
            link = place.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
            place = top.worktree / link
        said = (place / "HEAD").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    return said.removeprefix(_HEADS) if said.startswith(_HEADS) else ""


_HEADS = "ref: refs/heads/"
