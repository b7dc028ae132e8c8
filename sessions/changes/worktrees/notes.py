"""What is being made is noted, so that a crash leaves nothing behind: the next start takes it away again."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from sessions.changes.checkout_git import GitError, git

logger = logging.getLogger(__name__)


Entry = tuple[str, str, str]
"""A packed path of an index, with what it has there and what it is to have: `<mode> <object>`, or empty."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worktree is made: `making` is its folder until it is whole, `folder` from then on. `unstage` is
    what went there from the index of the repository's folder, and goes from it once the worktree is known."""

    repository: str
    commit: str
    branch: str
    making: str
    folder: str
    unstage: tuple[Entry, ...] = ()


class Note:
    """The record of a worktree that is being made; its lock is held until `close`, or the process ends."""

    def __init__(self, path: Path, place: Place) -> None:
        """Raises FileExistsError when the place is taken, OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path, self.place = path, place
        self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.write(self._lock, json.dumps(asdict(place)).encode())
        os.fsync(self._lock)

    def close(self) -> None:
        """The worktree is whole and has its row."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """The same, but for something that the next start has to finish."""
        os.close(self._lock)

    def discard(self) -> None:
        """The worktree is not wanted: as if it had never been begun."""
        clear(self.place)
        self.close()


def note_of(folder: Path) -> Path:
    """Where the note on a worktree is kept while it is made."""
    return folder.with_name(f"{folder.name}.json")


def left_behind() -> Iterator[tuple[Path, Place]]:
    """Notes of makings that nobody works at any more."""
    for path in sorted(Path(settings.WORKTREE_DIR).glob("*/*.json")):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield path, Place(**json.loads(path.read_bytes()))
        except BlockingIOError:
            continue
        except (ValueError, TypeError):  # cut short while it was written, before anything was made
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def clear(place: Place) -> None:
    """Take away the folders, what the repository knows of them, and the branch if nothing was added to it."""
    repository = Path(place.repository)
    for folder in (Path(place.making), Path(place.folder)):
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(GitError):  # also one that git was interrupted at
            git(repository, "worktree", "remove", "--force", "--force", str(folder))
    with suppress(GitError):
        git(repository, "update-ref", "-d", f"refs/heads/{place.branch}", place.commit)
    logger.info("the worktree %s was taken away again", place.folder)
