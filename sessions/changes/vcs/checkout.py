"""A working tree of git, asked without running what its repository names (see `worktrees.git`)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from sessions.changes.checkout_git import GitError, Setting, excluding, git, listed, unfiltered

__all__ = ["Checkout", "GitError"]

_LARGE = "4m"
"""Of a larger file git shows no lines (git-config(1), core.bigFileThreshold)."""


class Checkout:
    """`top` is where the working tree is, whatever the repository's configuration says (core.worktree).

    Every method blocks and may raise GitError.
    """

    def __init__(self, top: Path) -> None:
        self.top = top

    @cached_property
    def _settings(self) -> tuple[Setting, ...]:
        quiet = (("core.quotePath", "false"), ("core.bigFileThreshold", _LARGE))
        return (*quiet, *excluding(self.top), *unfiltered(self.top))

    def git(self, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """What git answers at the top; with `index` as its index."""
        extra = {"GIT_WORK_TREE": str(self.top)} | ({"GIT_INDEX_FILE": str(index)} if index else {})
        return git(self.top, *arguments, stdin=stdin, settings=self._settings, extra=extra)

    def asked(self, *arguments: str) -> str:
        """An answer of one line; empty where git has none."""
        try:
            return self.git(*arguments).decode("utf-8", "replace").strip()
        except GitError:
            return ""

    def untracked(self) -> list[str]:
        """Files that are neither tracked nor ignored; a repository in it is one name with a slash."""
        return listed(self.git("ls-files", "--others", "--exclude-standard", "-z"))

    @contextmanager
    def index_with(self, files: list[str]) -> Iterator[Path]:
        """A copy of the index in which `files` are tracked, so that a comparison shows them as new."""
        with tempfile.TemporaryDirectory(prefix="opencode-web-index-") as folder:
            copy = Path(folder) / "index"
            own = self.top / self.asked("rev-parse", "--git-path", "index")
            if own.is_file():
                shutil.copyfile(own, copy)
            empty = self.asked("hash-object", "--stdin")
            entries = b"".join(
                f"100644 {empty}\t".encode() + file.encode("utf-8", "surrogateescape") + b"\0"
                for file in files
            )
            self.git("update-index", "-z", "--index-info", stdin=entries, index=copy)
            yield copy
