"""Take contents out of a store that nothing reaches any more; what stays goes into packs.

Safe against everybody who writes meanwhile: what is younger than the grace period stays, whoever names an old
content makes it young first (`ObjectStore.put`, `own`), and each removal looks again under the locks that
those writers hold. Safe against a crash at any point: a content is removed only when it is garbage, or when
it has been written elsewhere. The user's own repository is never looked at.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sessions.changes.snapshots.pins import pinned
from sessions.changes.snapshots.repack import Packing, Stopped, plan_packing, write_pack
from sessions.changes.snapshots.snapshot import SnapshotStore
from sessions.changes.snapshots.watching.recall import Mark, mark
from sessions.core.git import GitError

GRACE_SECONDS = 3600.0
"""How long a content stays that no row names yet: the time between `put` and the row is far below it."""
_BATCH = 256
"""Objects removed under the locks at once: a few milliseconds for whoever waits."""
BLOCK = 512
"""Bytes that `st_blocks` counts in, whatever the file system (stat(2))."""
_OBJECT = re.compile(rb"\b[0-9a-f]{40}\b")

Stop = Callable[[], bool]
InUse = tuple[bytes, Mark, tuple[str, ...]]
"""What names the trees in use: HEAD, a mark of the index, the trees that are pinned."""


@dataclass(frozen=True, slots=True)
class Loose:
    """An object in a file of its own; `size` is what it takes on the disk, `time` when it was last named."""

    oid: str
    path: Path
    size: int
    time: float


class Sweep:
    """One collection of one store. `named` are the addresses that rows name."""

    def __init__(
        self, store: SnapshotStore, named: Set[str], stop: Stop, grace: float = GRACE_SECONDS
    ) -> None:
        self._store = store
        self._named = named
        self._stop = stop
        self._young = time.time() - grace
        self._state: InUse | None = None
        self._in_trees: frozenset[str] = frozenset()

    def run(self) -> int:
        """Returns how many objects were removed. Raises GitError, OSError; Stopped when it was stopped."""
        with self._alone():
            return self._run()

    def _run(self) -> int:
        with self._locked():
            loose = list(loose_objects(self._store.root))
        dead = [item for item in loose if item.time < self._young and not self._lives(item.oid)]
        for start in range(0, len(dead), _BATCH):
            self._remove(dead[start : start + _BATCH])
        gone = {item.oid for item in dead}
        removed = len(dead) + self._pack([item for item in loose if item.oid not in gone])
        self._clear_leftovers()
        return removed

    def _pack(self, loose: Sequence[Loose]) -> int:
        """Put loose objects into a pack, and packs with much garbage into a better one."""
        packs = self._store.objects.packs.all()
        plan = plan_packing(packs, [item.oid for item in loose], self._lives, self._young)
        if plan is None:
            return 0
        try:
            made = write_pack(self._store.objects, plan.objects, self._stop) if plan.objects else None
        except GitError:
            if not self._put_damaged_aside(loose):
                raise
            return 0  # the rest is packed the next time
        packed = set(plan.objects)
        repeated = [item for item in loose if item.oid in packed]
        for start in range(0, len(repeated), _BATCH):
            with self._locked():
                for item in repeated[start : start + _BATCH]:
                    item.path.unlink(missing_ok=True)
        self._drop_packs(plan, made)
        return plan.garbage

    def _remove(self, dead: Sequence[Loose]) -> None:
        with self._locked():
            for item in dead:
                with suppress(FileNotFoundError):
                    if not self._lives(item.oid) and item.path.stat().st_mtime < self._young:
                        item.path.unlink()

    def _drop_packs(self, plan: Packing, made: Path | None) -> None:
        with self._locked():
            for pack in plan.replaced:
                if pack.path == made or pack.path.stat().st_mtime != plan.times[pack.path]:
                    continue  # somebody needs a content of it again, which may have been garbage
                for suffix in (".idx", ".rev", ".pack"):  # without its index a pack is not looked into
                    pack.path.with_suffix(suffix).unlink(missing_ok=True)

    def _put_damaged_aside(self, loose: Sequence[Loose]) -> int:
        """What was cut short on the disk goes to a folder beside, so that it can be written anew and holds up
        nothing else; `doctor` names what is missing then."""
        aside = self._store.root / "damaged"
        with self._locked():
            damaged = [item for item in loose if not _is_whole(item.path)]
            for item in damaged:
                aside.mkdir(exist_ok=True)
                item.path.replace(aside / item.oid)
        return len(damaged)

    def _clear_leftovers(self) -> None:
        """What killed processes and power cuts left half written, and folders without objects."""
        objects = self._store.root / "objects"
        with self._locked():
            for path in objects.glob("[0-9a-f][0-9a-f]/*"):
                if path.stat().st_size == 0:
                    path.unlink(missing_ok=True)
            for pattern in ("??/tmp_obj_*", "pack/tmp_*", "pack/.tmp-*"):
                for path in objects.glob(pattern):
                    if path.stat().st_mtime < self._young:
                        path.unlink(missing_ok=True)
            for folder in objects.glob("??"):
                with suppress(OSError):
                    folder.rmdir()

    def _lives(self, oid: str) -> bool:
        return oid in self._named or oid in self._in_trees

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One collection of a store at a time; a second one has nothing to do."""
        with (self._store.root / "sweep.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Stopped from None
            yield

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody writes, and what the trees in use hold is known. Raises Stopped.

        In a large repository that takes a while to read: it is read before, and under the locks, where a
        command would have to wait, only when it has changed in between."""
        if self._stop():
            raise Stopped
        with self._store.locked():
            in_use = self._in_use()
        self._learn(*in_use)
        with self._store.locked(), self._store.objects.locked(fcntl.LOCK_EX):
            self._learn(*self._in_use())
            yield

    def _in_use(self) -> InUse:
        root = self._store.root
        return (root / "HEAD").read_bytes(), mark(root / "index"), tuple(sorted(pinned(root)))

    def _learn(self, head: bytes, index: Mark, trees: tuple[str, ...]) -> None:
        """The objects of the index and of the trees in use; read again when these have changed."""
        if self._state == (head, index, trees):
            return
        git = self._store.objects.git
        found = set(_OBJECT.findall(git(["ls-files", "-s"])))
        if not head.startswith(b"ref:"):
            commit = head.decode().strip()
            last = git(["rev-parse", "--verify", f"{commit}^{{tree}}"]).decode().strip()
            found.update((commit.encode(), last.encode()))
            found.update(_OBJECT.findall(git(["ls-tree", "-r", "-t", "--full-tree", last])))
        for tree in trees:
            found.add(tree.encode())
            found.update(_OBJECT.findall(git(["ls-tree", "-r", "-t", "--full-tree", tree])))
        self._in_trees = frozenset(oid.decode() for oid in found)
        self._state = (head, index, trees)


def _is_whole(path: Path) -> bool:
    try:
        zlib.decompress(path.read_bytes())
    except FileNotFoundError:
        return True
    except (OSError, zlib.error):
        return False
    return True


def loose_objects(root: Path) -> Iterator[Loose]:
    """The objects of a store that are not in packs."""
    for folder in sorted((root / "objects").glob("[0-9a-f][0-9a-f]")):
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat()
                if len(entry.name) == 38 and found.st_size:
                    size = found.st_blocks * BLOCK
                    yield Loose(folder.name + entry.name, Path(entry.path), size, found.st_mtime)
