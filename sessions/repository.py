"""What git says about a folder, read only."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Repository:
    worktree: Path
    is_git: bool

    @classmethod
    def of(cls, directory: Path) -> Repository:
        """The repository around a folder, or the folder itself where there is none.

        Raises NotADirectoryError or FileNotFoundError for a path that is no folder.
        """
        directory = directory.resolve(strict=True)
        if not directory.is_dir():
            raise NotADirectoryError(f"{directory} is not a folder")
        top = next((path for path in (directory, *directory.parents) if (path / ".git").exists()), None)
        if top is None or top in (Path.home(), Path("/")):
            return cls(directory, False)
        return cls(top, True)

    def is_linked(self) -> bool:
        """Whether it is a git worktree of a repository elsewhere (gitrepository-layout(5), `worktrees`)."""
        try:
            target = (self.worktree / ".git").read_text("utf-8", "surrogateescape")
        except OSError:  # a folder, or nothing
            return False
        return Path(target.removeprefix("gitdir:").strip()).parent.name == "worktrees"

    def root_commit(self) -> str:
        """The first commit, empty where there is none. It asks git, which takes milliseconds."""
        if not self.is_git:
            return ""
        command = ["git", "-C", str(self.worktree), "rev-list", "--max-parents=0", "HEAD"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        found = done.stdout.split()
        return found[-1] if found else ""
