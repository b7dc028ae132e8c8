"""Which contents the user has trusted: `{worktree: {relative path: sha256}}` in one private JSON file.

A content that differs in one byte is another content, so nothing has to be told when a file changes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

logger = logging.getLogger(__name__)

Digests = Mapping[str, str]
"""SHA-256 in hex by path, relative to the worktree."""

_lock = threading.Lock()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def name_in(worktree: Path, file: Path) -> str:
    """How the store names a file; a link as last part of the path is not followed."""
    return Path(os.path.relpath(file.parent.resolve() / file.name, worktree.resolve())).as_posix()


class TrustStore:
    """Reads the file anew each time: other processes write it too. Whoever may write it may run code as the
    user, so it is mode 600, and the guard of the edit and bash tools asks about it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def granted(self, worktree: Path) -> dict[str, str]:
        """What is trusted in a project."""
        return self._read().get(str(worktree.resolve()), {})

    def holds(self, worktree: Path, digests: Digests) -> bool:
        """Whether every one of these contents is trusted."""
        return digests.items() <= self.granted(worktree).items()

    def grant(self, worktree: Path, digests: Digests) -> None:
        """Trust these contents besides those that are; a file has one trusted content."""
        with _lock:
            known = self._read()
            key = str(worktree.resolve())
            self._write({**known, key: {**known.get(key, {}), **digests}})

    def revoke(self, worktree: Path) -> None:
        """Trust nothing of a project any longer."""
        with _lock:
            known = self._read()
            known.pop(str(worktree.resolve()), None)
            self._write(known)

    def _read(self) -> dict[str, dict[str, str]]:
        """A file that cannot be understood trusts nothing."""
        try:
            known = json.loads(self._file.read_bytes())
            return {
                str(key): {str(path): str(sha) for path, sha in files.items()} for key, files in known.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as error:
            logger.error("%s cannot be read, so nothing is trusted: %s", self._file, error)
            return {}

    def _write(self, known: Mapping[str, Digests]) -> None:
        """Whole or not at all."""
        handle, temporary = tempfile.mkstemp(dir=self._file.parent, prefix=".trust-")  # mkstemp: mode 600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=2, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._file)
        finally:
            Path(temporary).unlink(missing_ok=True)
