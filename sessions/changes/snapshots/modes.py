"""The permissions of files in a tree, of which git keeps one bit."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Usual = tuple[int, int]
USUAL: Usual = (0o644, 0o755)


@dataclass(frozen=True, slots=True)
class Modes:
    """Permissions by path: `usual` are those of most files, not executable and executable, and `odd` has the
    others. Only maps of the same `usual` can be compared."""

    usual: Usual = USUAL
    odd: Mapping[str, int] = field(default_factory=dict)

    def of(self, path: str, mode: int | None) -> int | None:
        """The whole mode of a file, given git's."""
        if mode is None or not stat.S_ISREG(mode):
            return mode
        return stat.S_IFREG | self.odd.get(path, self.usual[bool(mode & 0o100)])

    def renewed(self, root: Path, paths: Iterable[str], gone: Collection[str] = ()) -> Modes:
        """With what the files at `paths` in the folder `root` have now; what was known at and below the
        paths `gone` is forgotten."""
        folders = frozenset(gone)
        odd = {path: mode for path, mode in self.odd.items() if not under(path, folders)}
        return Modes(self.usual, odd | _odd(self.usual, look(root, paths)))

    def differ(self, other: Modes) -> set[str]:
        """The paths at which another map differs; none where the two cannot be compared."""
        if self.usual != other.usual:
            return set()
        return {path for path, _ in self.odd.items() ^ other.odd.items()}


def modes_of(found: Mapping[str, int], usual: Usual | None = None) -> Modes:
    """A map of all files of a worktree; without `usual`, what most of them have."""
    if usual is None:
        counts = Counter(found.values())
        plain, runs = (
            max((mode for mode in counts if bool(mode & 0o100) is runs), key=counts.__getitem__, default=mode)
            for runs, mode in zip((False, True), USUAL, strict=True)
        )
        usual = plain, runs
    return Modes(usual, _odd(usual, found))


def look(root: Path, paths: Iterable[str]) -> dict[str, int]:
    """The permissions of those of `paths` in `root` that are files."""
    found = {}
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in paths:
            try:
                mode = os.stat(path, dir_fd=top, follow_symlinks=False).st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode):
                found[path] = stat.S_IMODE(mode)
    finally:
        os.close(top)
    return found


def under(path: str, folders: frozenset[str]) -> bool:
    """Whether a path is one of `folders`, or below one."""
    if not folders:
        return False
    parts = path.rstrip("/").split("/")
    return any("/".join(parts[:end]) in folders for end in range(1, len(parts) + 1))


def _odd(usual: Usual, found: Mapping[str, int]) -> dict[str, int]:
    return {path: mode for path, mode in found.items() if mode != usual[bool(mode & 0o100)]}
