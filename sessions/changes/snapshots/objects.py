"""Content-addressed storage of file contents, in git's own loose-object format (gitformat-loose(5)).

Writing and reading what is ours happens in this process (tens of microseconds); git is asked only for what
is borrowed from the project's repository.

Whoever is about to name an address in a row calls `put` or `own` before: both make an old content young
again, so that a collection which has read the rows already leaves it (`sessions.changes.snapshots.sweep`).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sessions.changes.snapshots.packs import Packs
from sessions.core.files import sync_folder
from sessions.core.git import GitError, clean_environment, create_repository, run_git

_LEVEL = 1  # of zlib: at 6 a put takes three times as long for about a tenth less disk


class ObjectMissing(LookupError):
    """No content is kept under this object id."""


def object_id(content: bytes, kind: str = "blob") -> str:
    """The git object id (SHA-1, 40 hex digits) of `content`."""
    return _hash(_framed(content, kind))


EMPTY_FILE = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""The object id of a file without content."""


class ObjectStore:
    """Contents by object id, in the git directory `git_dir` (made if it is missing)."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._objects = git_dir / "objects"
        self._borrowed = git_dir / "borrowed"
        create_repository(git_dir)
        self.packs = Packs(self._objects / "pack")

    def put(self, content: bytes, kind: str = "blob") -> str:
        """Keep `content` and return its object id; the same content twice costs nothing. Raises OSError."""
        framed = _framed(content, kind)
        oid = _hash(framed)
        with self.locked(fcntl.LOCK_SH):
            if not (self._freshen(oid) and self._holds(oid, framed)):
                self._write(self._loose(oid), framed)
        return oid

    def get(self, oid: str) -> bytes:
        """The content of `oid`, borrowed or our own. Raises ObjectMissing."""
        try:
            framed = zlib.decompress(self._loose(oid).read_bytes())
        except FileNotFoundError:
            return self._packed(oid)
        except zlib.error as error:
            try:
                return self._packed(oid)
            except ObjectMissing:
                raise ObjectMissing(f"{oid} is damaged: {error}") from error
        return framed[framed.index(b"\0") + 1 :]

    def has(self, oid: str) -> bool:
        """Whether `get` would find it."""
        if self._loose(oid).exists() or self.packs.holder(oid):
            return True
        try:
            self.git(["cat-file", "-e", oid], borrowing=True)
        except GitError:
            return False
        return True

    def own(self, oids: Iterable[str]) -> set[str]:
        """Copy what is only borrowed into objects of ours; returns the ids found nowhere.

        What the ledger names must survive `git gc` in the user's repository, so it is never left borrowed.
        """
        with self.locked(fcntl.LOCK_SH):
            wanted = {oid for oid in oids if not self._freshen(oid)}
        for oid, content in self._from_git(sorted(wanted)):
            self.put(content)
            wanted.discard(oid)
        return wanted

    @contextmanager
    def locked(self, how: int) -> Iterator[None]:
        """Keep a collection from taking contents away (LOCK_SH), or be the one that does (LOCK_EX)."""
        descriptor = os.open(self.git_dir / "contents.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def _freshen(self, oid: str) -> bool:
        """Make what we have under `oid` young again; False when it is not ours."""
        with suppress(FileNotFoundError):
            os.utime(self._loose(oid))
            if self._loose(oid).stat().st_size:  # without a byte: the power went while it was written
                return True
        pack = self.packs.holder(oid)
        if pack is None:
            return False
        with suppress(FileNotFoundError):
            os.utime(pack.path)
            return True
        return False

    def _holds(self, oid: str, framed: bytes) -> bool:
        """Whether what lies loose under `oid` is whole, or nothing lies there."""
        try:
            return zlib.decompress(self._loose(oid).read_bytes()) == framed
        except FileNotFoundError:
            return True
        except zlib.error:
            return False

    def _write(self, target: Path, framed: bytes) -> None:
        """It is on the disk when this returns: rows that name it may be."""
        target.parent.mkdir(exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix="tmp_obj_", dir=target.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(zlib.compress(framed, _LEVEL))
                os.fchmod(file.fileno(), 0o444)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, target)
            sync_folder(target.parent)
        except BaseException:
            os.unlink(temporary)
            raise

    def _packed(self, oid: str) -> bytes:
        content = self.packs.get(oid)
        if content is not None:
            return content
        for _, found in self._from_git([oid]):
            return found
        raise ObjectMissing(oid)

    def borrow(self, objects: Path | None) -> None:
        """Read also from the `objects` folder of another repository (None: from no other)."""
        text = os.fspath(objects) if objects else ""
        if self._borrow() != text:
            self._borrowed.write_bytes(os.fsencode(text))

    def git(
        self, arguments: list[str], *, stdin: bytes = b"", borrowing: bool = False, cwd: Path | None = None
    ) -> bytes:
        """Run git on this store. Only reading commands may see what is borrowed: git touches the time stamp
        of an object it would otherwise have written, and the user's repository is not ours to touch."""
        extra = self._alternates() if borrowing else {}
        return run_git([f"--git-dir={self.git_dir}", *arguments], stdin=stdin, extra=extra, cwd=cwd)

    def _from_git(self, oids: list[str]) -> Iterator[tuple[str, bytes]]:
        """The objects among `oids` that git finds, one at a time (no more than one in memory)."""
        if not oids:
            return
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{oid}\n" for oid in oids).encode())
            asked.seek(0)
            with subprocess.Popen(
                ["git", f"--git-dir={self.git_dir}", "cat-file", "--batch", "--buffer"],
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**clean_environment(), **self._alternates()},
            ) as process:
                assert process.stdout is not None
                for line in iter(process.stdout.readline, b""):
                    oid, *found = line.decode().split()
                    if found == ["missing"]:
                        continue
                    yield oid, process.stdout.read(int(found[1]))
                    process.stdout.read(1)

    def _borrow(self) -> str:
        return os.fsdecode(self._borrowed.read_bytes()) if self._borrowed.exists() else ""

    def _alternates(self) -> dict[str, str]:
        path = self._borrow()
        if not path:
            return {}
        quoted = path.replace("\\", "\\\\").replace('"', '\\"')
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}

    def _loose(self, oid: str) -> Path:
        return self._objects / oid[:2] / oid[2:]


def _framed(content: bytes, kind: str) -> bytes:
    return b"%s %d\0%s" % (kind.encode(), len(content), content)


def _hash(framed: bytes) -> str:
    return hashlib.sha1(framed, usedforsecurity=False).hexdigest()
