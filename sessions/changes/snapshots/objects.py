"""Content-addressed storage of file contents, in git's own loose-object format (gitformat-loose(5)).

Writing and reading what is ours happens in this process (tens of microseconds); git is asked only for what
is borrowed from the project's repository.

Whoever is about to name an address in a row calls `put` or `own` before: both make an old content young
again, so that a collection which has read the rows already leaves it (`sessions.changes.snapshots.sweep`).
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import subprocess
import tempfile
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sessions.core.files import sync_folder
from sessions.core.git import GitError, clean_environment, create_repository, run_git

# Read git packs in this process (gitformat-pack(5)): a content out of one costs no process of its own.

_WHOLE = 0x10000


def read_size(data: bytes | mmap.mmap, at: int, bits: int = 7) -> tuple[int, int]:
    """A number in groups of seven bits, the low ones first, and where it ends. The first byte has only
    `bits` of it."""
    byte = data[at]
    size, shift = byte & ((1 << bits) - 1), bits
    while byte & 0x80:
        at += 1
        byte = data[at]
        size |= (byte & 0x7F) << shift
        shift += 7
    return size, at + 1


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """What `delta` makes of `base`. Raises ValueError when the two do not belong together."""
    base_size, at = read_size(delta, 0)
    size, at = read_size(delta, at)
    if base_size != len(base):
        raise ValueError("the delta belongs to another content")
    pieces = []
    while at < len(delta):
        byte = delta[at]
        at += 1
        if byte & 0x80:
            start, length, at = _copied(delta, at, byte)
            pieces.append(base[start : start + length])
        else:
            pieces.append(delta[at : at + byte])
            at += byte
    result = b"".join(pieces)
    if len(result) != size:
        raise ValueError("the delta is damaged")
    return result


def _copied(delta: bytes, at: int, flags: int) -> tuple[int, int, int]:
    """Which piece of the base: start and length, each of their bytes there only when its flag is set."""
    values = [0, 0]
    for bit in range(7):
        if flags >> bit & 1:
            number, place = (0, bit) if bit < 4 else (1, bit - 4)
            values[number] |= delta[at] << 8 * place
            at += 1
    return values[0], values[1] or _WHOLE, at


_HEAD = 8
_FAN = 256
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_OFFSET, _BY_ID = 6, 7
_CHUNK = 1 << 16


class Pack:
    """One pack and its index, mapped into memory; readable also after its files were removed. Raises
    OSError, ValueError when they are not there or not of version 2."""

    def __init__(self, index: Path) -> None:
        self.path = index.with_suffix(".pack")
        self._index = _mapped(index)
        self._data = _mapped(self.path)
        if self._index[:_HEAD] != b"\377tOc\0\0\0\2":
            raise ValueError(f"{index} is not an index of version 2")
        self._fan = struct.unpack_from(f">{_FAN}I", self._index, _HEAD)
        self.count = self._fan[-1]
        self._ids = _HEAD + 4 * _FAN
        self._offsets = self._ids + self.count * 24  # 20 of the id and 4 of a checksum

    def find(self, oid: str) -> int | None:
        """The place of an object in the pack."""
        wanted = bytes.fromhex(oid)
        low, high = self._fan[wanted[0] - 1] if wanted[0] else 0, self._fan[wanted[0]]
        at = bisect_left(range(self.count), wanted, low, high, key=self._id)
        return self._offset(at) if at < high and self._id(at) == wanted else None

    def sizes(self) -> dict[str, int]:
        """What each object takes in the pack, by its id, in bytes."""
        starts = {self._offset(at): self._id(at).hex() for at in range(self.count)}
        ordered = sorted(starts)
        ends = [*ordered[1:], len(self._data) - 20]
        return {starts[start]: end - start for start, end in zip(ordered, ends, strict=True)}

    def read(self, offset: int) -> tuple[str, bytes]:
        """Kind and content of the object there; what it is a delta to is read first."""
        deltas: list[bytes] = []
        while True:
            kind, base, at = self._header(offset)
            data = self._inflate(at)
            if kind in _KINDS:
                break
            deltas.append(data)
            offset = base
        for delta in reversed(deltas):
            data = apply_delta(data, delta)
        return _KINDS[kind], data

    def _header(self, offset: int) -> tuple[int, int, int]:
        """Kind, place of the base of a delta, and where the compressed data begin."""
        kind = self._data[offset] >> 4 & 7
        _, at = read_size(self._data, offset, 4)
        if kind == _BY_OFFSET:
            distance = self._data[at] & 0x7F
            while self._data[at] & 0x80:
                at += 1
                distance = (distance + 1 << 7) | (self._data[at] & 0x7F)
            return kind, offset - distance, at + 1
        if kind == _BY_ID:
            base = self.find(self._data[at : at + 20].hex())
            if base is None:
                raise ValueError("a delta to an object in another pack")
            return kind, base, at + 20
        return kind, 0, at

    def _inflate(self, at: int) -> bytes:
        inflater = zlib.decompressobj()
        found = []
        while not inflater.eof and at < len(self._data):
            found.append(inflater.decompress(self._data[at : at + _CHUNK]))
            at += _CHUNK
        return b"".join(found)

    def _id(self, at: int) -> bytes:
        start = self._ids + 20 * at
        return self._index[start : start + 20]

    def _offset(self, at: int) -> int:
        (offset,) = struct.unpack_from(">I", self._index, self._offsets + 4 * at)
        if offset & 0x80000000:
            place = self._offsets + 4 * self.count + 8 * (offset & 0x7FFFFFFF)
            (offset,) = struct.unpack_from(">Q", self._index, place)
        return int(offset)


class Packs:
    """All packs of one folder; looked up again when something came or went."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = -1
        self._packs: tuple[Pack, ...] = ()

    def all(self) -> tuple[Pack, ...]:
        """The packs that are there now."""
        stamp = os.stat(self._folder).st_mtime_ns
        if stamp != self._seen:
            known = {pack.path: pack for pack in self._packs}
            indexes = sorted(self._folder.glob("*.idx"))
            found = (known.get(index.with_suffix(".pack")) or _opened(index) for index in indexes)
            self._packs, self._seen = tuple(pack for pack in found if pack), stamp
        return self._packs

    def holder(self, oid: str) -> Pack | None:
        """The pack that has an object."""
        return next((pack for pack in self.all() if pack.find(oid) is not None), None)

    def get(self, oid: str) -> bytes | None:
        """The content of an object; None when no pack has it, or the one that has it is damaged."""
        for pack in self.all():
            offset = pack.find(oid)
            if offset is None:
                continue
            try:
                return pack.read(offset)[1]
            except (ValueError, IndexError, struct.error, zlib.error):
                continue
        return None


def _opened(index: Path) -> Pack | None:
    """None for a pack that is damaged, or was removed by now."""
    try:
        return Pack(index)
    except (OSError, ValueError, struct.error):
        return None


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


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

    def own(self, oids: Iterable[str], also: Sequence[Path] = ()) -> set[str]:
        """Copy what is only borrowed, or in one of the `objects` folders in `also`, into objects of ours;
        returns the ids found nowhere.

        What the ledger names must survive `git gc` in the user's repository, so it is never left borrowed.
        """
        with self.locked(fcntl.LOCK_SH):
            wanted = {oid for oid in oids if not self._freshen(oid)}
        for oid, content in self._from_git(sorted(wanted), also):
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
        self,
        arguments: list[str],
        *,
        stdin: bytes = b"",
        borrowing: bool = False,
        also: Sequence[Path] = (),
        cwd: Path | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """Run git on this store. Only reading commands may see what is borrowed, or in one of the `objects`
        folders in `also`: git touches the time stamp of an object it would otherwise have written, and the
        user's repository is not ours to touch."""
        extra = self._alternates(also) if borrowing or also else {}
        return run_git(
            [f"--git-dir={self.git_dir}", *arguments], stdin=stdin, extra=extra, cwd=cwd, seconds=seconds
        )

    def _from_git(self, oids: list[str], also: Sequence[Path] = ()) -> Iterator[tuple[str, bytes]]:
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
                env={**clean_environment(), **self._alternates(also)},
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

    def _alternates(self, also: Sequence[Path] = ()) -> dict[str, str]:
        paths = [path for path in (self._borrow(), *map(os.fspath, also)) if path]
        quoted = (path.replace("\\", "\\\\").replace('"', '\\"') for path in paths)
        found = os.pathsep.join(f'"{path}"' for path in quoted)
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": found} if found else {}

    def _loose(self, oid: str) -> Path:
        return self._objects / oid[:2] / oid[2:]


def _framed(content: bytes, kind: str) -> bytes:
    return b"%s %d\0%s" % (kind.encode(), len(content), content)


def _hash(framed: bytes) -> str:
    return hashlib.sha1(framed, usedforsecurity=False).hexdigest()
