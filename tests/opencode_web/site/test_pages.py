"""Pages are read as SQLite reads them, and whatever is in them nothing is raised."""

from __future__ import annotations

import random
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from opencode_web.site.pages import Pages, Row

PAGE = 1024


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Rows of every kind, on some hundred pages, some of which are free."""
    file = tmp_path / "db.sqlite3"
    chance = random.Random(5)
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA page_size={PAGE}")
        db.execute("PRAGMA secure_delete=OFF")
        db.execute("CREATE TABLE rows (id integer PRIMARY KEY, a, b text)")
        numbers = [sign * 2**power + 1 for power in range(0, 63, 3) for sign in (1, -1)]
        values = [None, 0, 1, 0.5, -1e300, b"", b"\0\1" * 700, "ä" * 40, "", *numbers]
        for number in range(600):
            text = "word " * chance.choice((1, 20, 195, 199, 203, 2000))
            row = (number * 7919 - 2**40, chance.choice(values), text)
            db.execute("INSERT INTO rows VALUES (?, ?, ?)", row)
        db.execute("CREATE TABLE gone (a text)")
        db.executemany("INSERT INTO gone VALUES (?)", [("gone " * 50,)] * 600)
        db.execute("DROP TABLE gone")
        db.commit()
    return file


def tree(pages: Pages, root: int) -> list[tuple[int, Row | None]]:
    return [found for page in pages.leaves(root) for found in pages.rows(page)]


def test_rows_are_those_that_sqlite_reads(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT id, NULL, a, b FROM rows ORDER BY id").fetchall()
        (free,) = db.execute("PRAGMA freelist_count").fetchone()
    pages = Pages(file.read_bytes())
    assert tree(pages, 2) == [(number, tuple(row)) for number, *row in rows]
    found, all_known = pages.free()
    assert (len(found), all_known) == (free, True)
    assert {page for page in pages.all_leaves() if page in found}, "nothing is left on the free pages"
    assert set(pages.all_leaves()) - found == {1, *pages.leaves(2)}


def test_the_list_of_free_pages_is_known_to_be_broken(file: Path) -> None:
    data = bytearray(file.read_bytes())
    (trunk,) = struct.unpack_from(">I", data, 32)
    data[(trunk - 1) * PAGE : trunk * PAGE] = bytes(PAGE)
    assert Pages(data).free() == ({trunk}, False)


def test_a_chain_that_is_a_circle_or_ends_early_is_no_row(file: Path) -> None:
    sound = dict(tree(Pages(file.read_bytes()), 2))
    pages = range(1, file.stat().st_size // PAGE + 1)
    for target in (0, 10**6, "itself"):
        data = bytearray(file.read_bytes())
        for page in set(pages) - set(Pages(data).tree(2)) - {1}:
            struct.pack_into(">I", data, (page - 1) * PAGE, page if target == "itself" else target)
        found = dict(tree(Pages(data), 2))
        assert found.keys() == sound.keys()
        assert {row for row in found.values() if row} < {row for row in sound.values() if row}
        assert None in found.values()


def test_trees_that_are_circles_end(file: Path) -> None:
    data = bytearray(file.read_bytes())
    struct.pack_into(">I", data, PAGE + 8, 2)
    assert len(Pages(data).leaves(2)) >= 1


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_bytes_are_nothing_is_raised(file: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice((20, 2000, 40_000))):
        data[chance.randrange(16 if seed % 2 else 100, len(data))] = chance.choice(
            (0, 5, 13, 255, chance.randrange(256))
        )
    if seed % 5 == 0:
        data = data[: chance.randrange(len(data))]
    pages = Pages(bytes(data))
    for page in (*pages.leaves(2), *pages.all_leaves(), *pages.free()[0]):
        if 1 <= page <= pages.count:
            list(pages.rows(page))
    assert len(pages.leaves(2)) <= pages.count


@pytest.mark.parametrize("data", [b"", b"SQLite", b"\xff" * 5000, bytes(5000)])
def test_what_is_no_database_has_no_pages(data: bytes) -> None:
    pages = Pages(data)
    assert (pages.count, list(pages.all_leaves()), pages.leaves(1), pages.free()) == (
        0,
        [],
        [],
        (set(), False),
    )
