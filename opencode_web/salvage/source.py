"""Make a damaged file readable: its head, and the list of its tables.

Source: https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import mmap
import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from .tables import Row, open_file, tables_of

_HEADER = 100
_INTERIOR = 0x05
_MIGRATIONS = "django_migrations"


@contextmanager
def readable(
    damaged: Path, copies: Sequence[Path], folder: Path
) -> Iterator[tuple[sqlite3.Connection, str] | None]:
    """A working copy whose list of tables can be read, if need be with the pages of that list from a daily
    copy. Where there is no way to read it, the newest copy that can be read, with its
    name, or None."""
    work = folder / "work.sqlite3"
    ways = [(damaged, None), *((damaged, copy) for copy in copies), *((copy, None) for copy in copies)]
    for file, graft in ways:
        for suffix in ("", "-wal"):
            work.with_name(work.name + suffix).unlink(missing_ok=True)
            if (part := file.with_name(file.name + suffix)).exists():
                shutil.copyfile(part, work.with_name(work.name + suffix))
        try:
            _mend_head(work, graft)
        except (struct.error, IndexError, ValueError, ZeroDivisionError, RecursionError):
            continue  # the copy is damaged as well
        with closing(open_file(work)) as source:
            if _usable(source, graft):
                yield source, file.name if file in copies else ""
                return
    yield None


def _mend_head(work: Path, graft: Path | None) -> None:
    """A file that was cut off is filled up with nothing, so that SQLite reads the part that is there."""
    with work.open("r+b") as file:
        if graft is not None:
            _write_schema(file, graft)
        file.seek(0)
        head = file.read(_HEADER)
        if len(head) == _HEADER and (size := _page_size(head)):
            (pages,) = struct.unpack_from(">I", head, 28)
            whole = -(-os.fstat(file.fileno()).st_size // size)
            file.truncate(max(whole, min(pages, 4 * whole)) * size)


def _write_schema(file: BinaryIO, graft: Path) -> None:
    """Put the first page and the list of tables of another database in place of its own."""
    with graft.open("rb") as whole, mmap.mmap(whole.fileno(), 0, access=mmap.ACCESS_READ) as other:
        size = _page_size(other[:_HEADER])
        pages = -(-os.fstat(file.fileno()).st_size // size)
        for page in _schema_pages(other, size):
            file.seek((page - 1) * size)
            file.write(other[(page - 1) * size : page * size])
        # As many pages as the file has, and a write-ahead log, as it had one.
        for at, value in ((18, b"\x02\x02"), (28, struct.pack(">I", pages)), (92, other[24:28])):
            file.seek(at)
            file.write(value)


def _schema_pages(data: mmap.mmap, size: int, page: int = 1) -> list[int]:
    """The pages that hold the list of tables, in a sound file; section 1.6 of the format."""
    at = (page - 1) * size
    head = at + _HEADER if page == 1 else at
    if data[head] != _INTERIOR:
        return [page]
    (cells,) = struct.unpack_from(">H", data, head + 3)
    places = struct.unpack_from(f">{cells}H", data, head + 12)
    below = [struct.unpack_from(">I", data, at + place)[0] for place in places]
    below += struct.unpack_from(">I", data, head + 8)
    return [page, *(found for child in below for found in _schema_pages(data, size, child))]


def _page_size(head: bytes) -> int:
    (size,) = struct.unpack_from(">H", head, 16)
    size = 65536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


def _usable(source: sqlite3.Connection, graft: Path | None) -> bool:
    """The tables are known, and, with a first page from elsewhere, they are those of that time."""
    try:
        source.execute("SELECT name, sql FROM sqlite_master").fetchall()
        applied = _migrations(source)
        if graft is None:
            return bool(tables_of(source))
        with closing(open_file(graft)) as other:
            return bool(applied) and applied == _migrations(other)
    except sqlite3.Error:
        return False


def _migrations(db: sqlite3.Connection) -> set[Row]:
    """Empty when they cannot be read: the newest copy has them, too."""
    try:
        return set(db.execute(f"SELECT app, name FROM {_MIGRATIONS}"))  # noqa: S608
    except sqlite3.Error:
        return set()
