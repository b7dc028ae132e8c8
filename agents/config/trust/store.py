"""Which contents the user has trusted: `{worktree: {relative path: sha256}}` in one private JSON file.

A content that differs in one byte is another content, so nothing has to be told when a file changes.
Where nobody is, the environment names what is trusted, by its hash.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from sessions.core import variables
from sessions.core.files import BrokenFile, JsonFile

logger = logging.getLogger(__name__)

Digests = Mapping[str, str]
"""SHA-256 in hex by path, relative to the worktree."""


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hash_of(digests: Digests) -> str:
    """One hash for contents and their names, wherever the project lies."""
    return digest(json.dumps(sorted(digests.items())).encode())


def name_in(worktree: Path, file: Path) -> str:
    """How the store names a file; a link as last part of the path is not followed."""
    return Path(os.path.relpath(file.parent.resolve() / file.name, worktree.resolve())).as_posix()


@dataclass(frozen=True, slots=True)
class Trusted:
    """What is trusted in a project at one moment: contents by name, and `hashes` whatever they are of."""

    granted: Digests
    hashes: Collection[str]

    def holds(self, digests: Digests) -> bool:
        """Whether every one of these contents is trusted."""
        return hash_of(digests) in self.hashes or digests.items() <= self.granted.items()


class TrustStore:
    """Reads the file anew each time: other processes write it too. Whoever may write it may run code as the
    user, so it is mode 600, and the guard of the edit and bash tools asks about it."""

    def __init__(self, file: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._file = JsonFile(file)
        self._hashes = {name.strip() for name in variables.TRUST.read(environ).split(",")}

    def granted(self, worktree: Path) -> dict[str, str]:
        """What is trusted in a project; a file that cannot be understood trusts nothing."""
        try:
            known = self._file.read()
        except (OSError, BrokenFile) as error:
            logger.error("%s cannot be read, so nothing is trusted: %s", self._file.path, error)
            return {}
        files = known.get(str(worktree.resolve()))
        return {name: str(sha) for name, sha in files.items()} if isinstance(files, dict) else {}

    def now(self, worktree: Path) -> Trusted:
        """For questions about many files at once."""
        return Trusted(self.granted(worktree), self._hashes)

    def holds(self, worktree: Path, digests: Digests) -> bool:
        """Whether every one of these contents is trusted."""
        return self.now(worktree).holds(digests)

    def all(self) -> dict[str, dict[str, str]]:
        """What is trusted, by worktree. Raises OSError, BrokenFile."""
        known = self._file.read()
        return {worktree: files for worktree, files in known.items() if isinstance(files, dict)}

    def grant_alike(self, worktree: Path, other: Path) -> None:
        """What is trusted of a project is trusted in another worktree of it, where nobody can be asked, as
        far as it is the same content."""
        if granted := self.granted(worktree):
            self.grant(other, granted)

    def grant(self, worktree: Path, digests: Digests) -> None:
        """Trust these contents besides those that are; a file has one trusted content."""
        with self._file.changing(broken_is_empty=True) as known:
            key = str(worktree.resolve())
            before = known.get(key)
            known[key] = {**(before if isinstance(before, dict) else {}), **digests}

    def revoke(self, worktree: Path) -> None:
        """Trust nothing of a project any longer."""
        with self._file.changing(broken_is_empty=True) as known:
            known.pop(str(worktree.resolve()), None)
