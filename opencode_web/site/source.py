"""A working copy of a damaged database, and where its tables are."""

from __future__ import annotations

import mmap
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from opencode_web.site.pages import HEADER, Pages, Row, page_size
from sessions.core.index import fts

MakeTables = Callable[[Path], Path | None]
"""Makes a database with the tables of this program in a folder; None where that fails."""
MIGRATIONS = "django_migrations"
_MAGIC = b"SQLite format 3\0"
_UNKNOWN = struct.pack(">II", 0, 1)
"""Of the free pages: that one at least is not known."""


@dataclass(frozen=True, slots=True)
class Source:
    """`db` knows the tables, `roots` are the first pages of those whose place is known, in `pages`. Of
    a database that is `other`, only the list of tables is to be used: `db` has no rows of the damaged one."""

    db: sqlite3.Connection
    pages: Pages
    roots: dict[str, int]
    other: bool = False


@contextmanager
def readable(
    damaged: Path, copies: Sequence[Path], make_tables: MakeTables, folder: Path
) -> Iterator[Source | None]:
    """The damaged file, by its own list of tables, or with the pages of that list from a copy of the same
    time. Else only its pages, by the list of tables of a copy or of a new database; None if there is none."""
    work = folder / "work.sqlite3"
    for copy in (None, *copies):
        _copy(damaged, work)
        with suppress(struct.error, ValueError):  # the copy is damaged as well
            _mend_head(work, copy, with_tables=True)
            with closing(open_file(work)) as db:
                if _usable(db, copy):
                    _checkpoint(db)
                    query = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"
                    with _pages(work) as pages:
                        yield Source(db, pages, {"sqlite_master": 1, **dict(db.execute(query))})
                    return
    for other in chain(copies, _make(make_tables, folder)):
        with closing(open_file(other)) as db:
            if _usable(db, None):
                _copy(damaged, work)
                _mend_head(work, other, with_tables=False)
                with closing(open_file(work)) as writer:
                    _checkpoint(writer)
                with _pages(work) as pages:
                    yield Source(db, pages, _roots(pages, db), other=True)
                return
    yield None


def no_tables(_: Path) -> Path | None:
    return None


def _make(make_tables: MakeTables, folder: Path) -> Iterator[Path]:
    if made := make_tables(folder):
        yield made


def open_file(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, isolation_level=None)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    with suppress(sqlite3.Error):
        db.execute("PRAGMA cell_size_check=ON")
    return db


def tables_of(db: sqlite3.Connection) -> list[str]:
    """Those with rows of their own: the index of words is made of the others' anew."""
    query = "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in db.execute(query) if not name.startswith(fts.PREFIX)]


def columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f'PRAGMA table_info("{table}")')]


def _copy(damaged: Path, work: Path) -> None:
    for suffix in ("", "-wal"):
        work.with_name(work.name + suffix).unlink(missing_ok=True)
        if (part := damaged.with_name(damaged.name + suffix)).exists():
            shutil.copyfile(part, work.with_name(work.name + suffix))


def _mend_head(work: Path, other: Path | None, *, with_tables: bool) -> None:
    """A file that was cut off is filled up with nothing, so that SQLite reads the part that is there. The
    list of tables is put in place of its own, or, if it has none, only the head of another."""
    with work.open("r+b") as file:
        if other is not None:
            _write_schema(file, other, with_tables)
        file.seek(0)
        head = file.read(HEADER)
        if len(head) == HEADER and (size := page_size(head)):
            (pages,) = struct.unpack_from(">I", head, 28)
            whole = -(-os.fstat(file.fileno()).st_size // size)
            file.truncate(max(whole, min(pages, 4 * whole)) * size)


def _write_schema(file: BinaryIO, graft: Path, with_tables: bool) -> None:
    """Put the first page and the list of tables of another database in place of its own."""
    own = file.read(HEADER)
    sound = own.startswith(_MAGIC) and page_size(own) > 0
    with _pages(graft) as other, graft.open("rb") as whole:
        if not other.size or (sound and not with_tables):
            return
        for page in other.tree(1) if with_tables else ():
            for handle in (whole, file):
                handle.seek((page - 1) * other.size)
            file.write(whole.read(other.size))
        whole.seek(0)
        head = whole.read(HEADER)
        size = os.fstat(file.fileno()).st_size
        file.seek(0)
        file.write(head)
        # As many pages as the file has, a write-ahead log, as it had one, and its own list of free pages.
        free = own[32:40] if sound else _UNKNOWN
        count = struct.pack(">I", -(-size // other.size))
        for at, value in ((18, b"\x02\x02"), (28, count), (32, free), (92, head[24:28])):
            file.seek(at)
            file.write(value)


def _usable(db: sqlite3.Connection, graft: Path | None) -> bool:
    """The tables are known, and, with a first page from elsewhere, they are those of that time."""
    try:
        db.execute("SELECT name, sql FROM sqlite_master").fetchall()
        applied = _migrations(db)
        if graft is None:
            return bool(tables_of(db))
        with closing(open_file(graft)) as other:
            return bool(applied) and applied == _migrations(other)
    except sqlite3.Error:
        return False


def _migrations(db: sqlite3.Connection) -> set[Row]:
    """Empty when they cannot be read: the newest copy has them, too."""
    try:
        return set(db.execute(f"SELECT app, name FROM {MIGRATIONS}"))  # noqa: S608
    except sqlite3.Error:
        return set()


def _checkpoint(db: sqlite3.Connection) -> None:
    """Bring what the write-ahead log has into the pages."""
    with suppress(sqlite3.Error):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _roots(pages: Pages, db: sqlite3.Connection) -> dict[str, int]:
    """Of the tables that what is left of a file's own list declares as the other database does."""
    known = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    rows = (row for page in pages.leaves(1) for _, row in pages.rows(page) if row and len(row) == 5)
    return {
        "sqlite_master": 1,
        **{row[1]: row[3] for row in rows if known.get(row[1], "") == row[4] and isinstance(row[3], int)},
    }


@contextmanager
def _pages(file: Path) -> Iterator[Pages]:
    with file.open("rb") as handle:
        if not os.fstat(handle.fileno()).st_size:
            yield Pages(b"")
            return
        with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield Pages(data)
