"""How far the files of a project reach: below its worktree, and where a link leads that a person trusts.

git keeps links, so whoever wrote a repository could name any file of the machine by one.
See docs/decisions/0024-out-of-reach.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from agents.config.trust.store import TrustStore, digest, name_in
from agents.config.trust.wants import Content, Want, Wish
from sessions.core import confined
from sessions.core.confined import LeadsOut, is_machine, opened, real_path
from sessions.core.repository import Repository

WORDS = "Reads from outside of the project, by a link"
_ARROW = " -> "


class Reach:
    """Of one worktree. What is trusted is where a link leads, whatever is written there later: it is a file
    of the user's own."""

    def __init__(self, worktree: Path, store: TrustStore | None = None) -> None:
        self.worktree = real_path(worktree)
        self._store = store or TrustStore(Path(settings.TRUST_FILE))

    @classmethod
    def of(cls, directory: Path) -> Reach:
        """Of the project around a folder."""
        try:
            return cls(Repository.of(directory).worktree)
        except OSError:
            return cls(directory)

    def open(self, path: Path) -> BinaryIO:
        """A file of the project. Raises LeadsOut, OSError."""
        return opened(path, self.root(path))

    def read(self, path: Path, limit: int) -> bytes:
        """All of a file of the project. Raises LeadsOut, OSError also for one of more than `limit` bytes."""
        return confined.read_whole(path, self.root(path), limit)

    def root(self, path: Path) -> Path:
        """The folder, or the one file, that the real path may not leave. Raises LeadsOut."""
        real = real_path(path)
        if not is_machine(real):
            if real.is_relative_to(self.worktree):
                return self.worktree
            for root in self._trusted(path):
                if real.is_relative_to(root):
                    return root
        raise LeadsOut(path, real)

    def reaches(self, path: Path) -> bool:
        try:
            return self.root(path) is not None
        except OSError:
            return False

    def want(self, path: Path) -> Want | None:
        """What a path asks for that leads out; None for one that stays inside, leads nowhere, or may never
        be read."""
        try:
            real = real_path(path)
        except OSError:
            return None
        if is_machine(real) or real.is_relative_to(self.worktree) or not os.path.exists(real):
            return None
        content = Content(f"{name_in(self.worktree, path)}{_ARROW}{real}", digest(os.fsencode(real)), "")
        trusted = self._store.holds(self.worktree, {content.name: content.digest})
        return Want([content], [Wish("", WORDS, str(real))], trusted)

    def wants(self, paths: Iterable[Path]) -> list[Want]:
        """Of several, each once."""
        found = (self.want(path) for path in paths)
        return list({want.name: want for want in found if want is not None}.values())

    def _trusted(self, path: Path) -> Iterator[Path]:
        """Where links lead that are trusted; by the environment those on the way to `path`."""
        for name, sha in self._store.granted(self.worktree).items():
            real = name.partition(_ARROW)[2]
            if real and digest(os.fsencode(real)) == sha:
                yield Path(real)
        for want in self.wants((path, *path.parents)):
            if want.trusted:
                yield Path(want.wishes[0].detail)
