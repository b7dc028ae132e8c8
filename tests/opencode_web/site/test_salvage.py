"""What can be read of a damaged database is in the new one."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from opencode_web.site.database import make_tables
from opencode_web.site.salvage import Salvaged, Table, salvage
from sessions.changes.upkeep.copies import copy_to
from tests.opencode_web.damaged import (
    MESSAGE,
    PAGE,
    PART,
    SESSION,
    add,
    blank,
    conversations,
    count,
    grown,
    ids,
    leaves,
    present,
    schema_pages,
    spoil,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Six conversations of twelve messages with two parts each, not damaged yet."""
    file = tmp_path / "damaged.sqlite3"
    conversations(file)
    return file


def of(done: Salvaged, name: str) -> Table:
    return next(table for table in done.tables if table.name == name)


def sound(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as db:
        whole = db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return whole and not db.execute("PRAGMA foreign_key_check").fetchall()


def rows_in(file: Path, table: str, page: int) -> int:
    data = file.read_bytes()
    return int.from_bytes(data[(page - 1) * PAGE + 3 : (page - 1) * PAGE + 5], "big")


def test_one_bad_page_costs_the_rows_on_it(damaged: Path, tmp_path: Path) -> None:
    pages = leaves(damaged, PART)
    lost = rows_in(damaged, PART, pages[len(pages) // 2])
    spoil(damaged, pages[len(pages) // 2])
    before = damaged.read_bytes()

    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert (of(done, PART).saved, of(done, PART).lost) == (144 - lost, lost)
    assert not of(done, PART).unknown
    assert count(tmp_path / "new.sqlite3", PART) == 144 - lost
    assert count(tmp_path / "new.sqlite3", MESSAGE) == 72
    assert sound(tmp_path / "new.sqlite3")
    assert damaged.read_bytes() == before


def test_between_bad_pages_the_good_ones_are_read(damaged: Path, tmp_path: Path) -> None:
    pages = leaves(damaged, PART)
    bad = [pages[0], pages[len(pages) // 2], pages[-1]]
    lost = sum(rows_in(damaged, PART, page) for page in bad)
    spoil(damaged, *bad)
    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert (of(done, PART).saved, of(done, PART).lost) == (144 - lost, lost)
    assert sound(tmp_path / "new.sqlite3")


def test_a_lost_session_is_made_anew_for_its_messages(damaged: Path, tmp_path: Path) -> None:
    pages = leaves(damaged, SESSION)
    lost = rows_in(damaged, SESSION, pages[0])
    spoil(damaged, pages[0])
    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert (of(done, SESSION).saved, of(done, SESSION).lost, done.made) == (6 - lost, lost, lost)
    assert count(tmp_path / "new.sqlite3", SESSION) == 6
    assert count(tmp_path / "new.sqlite3", MESSAGE) == 72
    assert count(tmp_path / "new.sqlite3", PART) == 144
    assert sound(tmp_path / "new.sqlite3")


def test_what_names_a_lost_row_goes_with_it(damaged: Path, tmp_path: Path) -> None:
    page = leaves(damaged, MESSAGE)[0]
    lost = rows_in(damaged, MESSAGE, page)
    spoil(damaged, page)
    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert of(done, MESSAGE).lost == lost
    assert of(done, PART).lost == 2 * lost
    assert count(tmp_path / "new.sqlite3", PART) == 144 - 2 * lost
    assert sound(tmp_path / "new.sqlite3")


def test_a_copy_gives_the_rows_that_cannot_be_read_and_no_others(damaged: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(damaged)) as db, db:
        columns = "session_id, role, prompt_id, time_created, data"
        query = f"INSERT INTO {MESSAGE} (id, {columns}) SELECT 'msg_gone', {columns} FROM {MESSAGE} LIMIT 1"  # noqa: S608
        db.execute(query)
    copy = tmp_path / "copy.sqlite3"
    copy_to(damaged, copy)
    with closing(sqlite3.connect(damaged)) as db, db:
        db.execute(f"DELETE FROM {MESSAGE} WHERE id = 'msg_gone'")  # noqa: S608
    bad = leaves(damaged, PART)[3]
    lost = rows_in(damaged, PART, bad)
    spoil(damaged, bad, leaves(damaged, MESSAGE)[0])

    done = salvage(damaged, tmp_path / "new.sqlite3", [copy])
    assert (of(done, PART).saved, of(done, PART).copied, of(done, PART).lost) == (144 - lost, lost, 0)
    assert done.copy == copy.name
    with closing(sqlite3.connect(tmp_path / "new.sqlite3")) as db:
        assert db.execute(f"SELECT count(*) FROM {MESSAGE}").fetchone() == (72,)  # noqa: S608
        assert not db.execute(f"SELECT * FROM {MESSAGE} WHERE id = 'msg_gone'").fetchall()  # noqa: S608
    assert sound(tmp_path / "new.sqlite3")


def test_the_list_of_tables_is_taken_from_a_copy(damaged: Path, tmp_path: Path) -> None:
    empty, copy = tmp_path / "empty.sqlite3", tmp_path / "copy.sqlite3"
    conversations(empty, sessions=0)
    copy_to(empty, copy)
    spoil(damaged, 1, *schema_pages(damaged))
    done = salvage(damaged, tmp_path / "new.sqlite3", [copy])
    assert (of(done, SESSION).saved, of(done, MESSAGE).saved, of(done, PART).saved) == (6, 72, 144)
    assert sound(tmp_path / "new.sqlite3")


def test_half_of_a_file_gives_half_of_the_rows(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite3"
    conversations(damaged, sessions=48)  # more than the list of tables is long
    with damaged.open("r+b") as file:
        file.truncate(damaged.stat().st_size // 2 + 100)
    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert 200 <= of(done, PART).saved < 1152
    assert sound(tmp_path / "new.sqlite3")


@pytest.mark.parametrize("content", [b"", b"\xff" * 40960], ids=["empty", "overwritten"])
def test_where_nothing_can_be_read_the_newest_copy_is_taken(
    damaged: Path, tmp_path: Path, content: bytes
) -> None:
    copy, bad = tmp_path / "copy.sqlite3", tmp_path / "newer.sqlite3"
    copy_to(damaged, copy)
    bad.write_bytes(b"\xff" * 8192)
    damaged.write_bytes(content)
    done = salvage(damaged, tmp_path / "new.sqlite3", [bad, copy])
    assert done.copy == copy.name
    assert (of(done, PART).saved, of(done, PART).copied, of(done, PART).unknown) == (0, 144, True)
    assert sound(tmp_path / "new.sqlite3")


def test_nothing_readable_leaves_an_empty_database(damaged: Path, tmp_path: Path) -> None:
    damaged.write_bytes(b"\xff" * damaged.stat().st_size)
    assert salvage(damaged, tmp_path / "new.sqlite3", []) == Salvaged()
    assert (tmp_path / "new.sqlite3").exists()


def test_a_text_with_a_flipped_byte_is_taken_and_json_that_is_none_is_not(
    damaged: Path, tmp_path: Path
) -> None:
    data = damaged.read_bytes()
    assert b'{"text": "msg_002003 1' in data
    data = data.replace(b'{"text": "msg_002003 1', b'{"text": "msg_\xff02003 1')
    damaged.write_bytes(data.replace(b'{"text": "msg_002004 1', b'{"text": \xffmsg_002004 1'))
    done = salvage(damaged, tmp_path / "new.sqlite3", [])
    assert (of(done, PART).saved, of(done, PART).lost) == (143, 1)


LOST: dict[str, Callable[[int], set[int]]] = {
    "a third": lambda pages: set(range(pages // 3 * 2 + 1, pages + 1)),
    "half": lambda pages: set(range(pages // 2 + 1, pages + 1)),
    "two thirds": lambda pages: set(range(pages // 3 + 1, pages + 1)),
    "the first half": lambda pages: set(range(2, pages // 2 + 1)),
    "the first half and its head": lambda pages: set(range(1, pages // 2 + 1)),
    "one in ten": lambda pages: set(random.Random(1).sample(range(2, pages + 1), pages // 10)),
    "one in three": lambda pages: set(random.Random(2).sample(range(2, pages + 1), pages // 3)),
    "one in two": lambda pages: set(random.Random(3).sample(range(2, pages + 1), pages // 2)),
}
EVENT, RULE = "opencode_sessions_event", "opencode_sessions_savedrule"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as the migrations make it."""
    made = make_tables(tmp_path_factory.mktemp("tables"))
    assert made
    return made


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("sessions", [6, 24])
def test_what_is_there_comes_back(empty: Path, tmp_path: Path, lost: str, sessions: int) -> None:
    whole, damaged, new = (tmp_path / f"{name}.sqlite3" for name in ("whole", "damaged", "new"))
    grown(whole, empty, sessions)
    damaged.write_bytes(whole.read_bytes())
    gone = LOST[lost](whole.stat().st_size // PAGE)
    blank(damaged, gone)
    there = {table: present(whole, table, gone) for table in (SESSION, MESSAGE, PART)}

    done = salvage(damaged, new, [], lambda _: empty)
    assert ids(new, MESSAGE) == there[MESSAGE]
    with closing(sqlite3.connect(whole)) as db:
        message_of = dict(db.execute(f"SELECT id, message_id FROM {PART}"))  # noqa: S608
        session_of = dict(db.execute(f"SELECT id, session_id FROM {MESSAGE}"))  # noqa: S608
    assert ids(new, PART) == {part for part in there[PART] if message_of[part] in there[MESSAGE]}
    assert ids(new, SESSION) == there[SESSION] | {session_of[message] for message in there[MESSAGE]}
    assert of(done, SESSION).saved == len(there[SESSION])
    assert sound(new)


def test_the_messages_tell_where_a_lost_conversation_belongs(empty: Path, tmp_path: Path) -> None:
    damaged, new = tmp_path / "damaged.sqlite3", tmp_path / "new.sqlite3"
    grown(damaged, empty)
    with closing(sqlite3.connect(damaged)) as db, db:
        strange = '{"path": {"root": "\\ud800"}}'
        db.execute(f"UPDATE {MESSAGE} SET data = ? WHERE time_created = 2", (strange,))  # noqa: S608
    tables = (SESSION, EVENT, "opencode_sessions_project")
    spoil(damaged, *(page for table in tables for page in leaves(damaged, table)))
    done = salvage(damaged, new, [])
    assert (done.made, of(done, SESSION).saved, count(new, PART)) == (7, 0, 360)
    with closing(sqlite3.connect(new)) as db:
        assert db.execute("SELECT worktree, name FROM opencode_sessions_project").fetchall() == [
            ("/work/thing", "thing")
        ]
        query = f"SELECT title, directory, time_created, used FROM {SESSION}"  # noqa: S608
        assert set(db.execute(query)) == {("Recovered conversation", "/work/thing", 1, 20)}
    assert sound(new)


def roots(file: Path, *tables: str) -> list[int]:
    """The first pages of tables and of their indexes."""
    with closing(sqlite3.connect(file)) as db:
        found = db.execute("SELECT tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0").fetchall()
    return [root for table, root in found if table in tables]


def without(file: Path, table: str, where: str) -> None:
    """Delete rows as an SQLite does that leaves on free pages what was there."""
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("PRAGMA secure_delete=OFF")
        db.execute(f"DELETE FROM {table} WHERE {where}")  # noqa: S608


def test_what_was_deleted_stays_deleted(empty: Path, tmp_path: Path) -> None:
    damaged, new = tmp_path / "damaged.sqlite3", tmp_path / "new.sqlite3"
    grown(damaged, empty)
    old = {page for table in (MESSAGE, PART) for page in leaves(damaged, table)}
    where = "session_id < 'ses_00000000000000000000000004'"
    for table in (PART, MESSAGE):
        without(damaged, table, where)
    left = {table: ids(damaged, table) for table in (MESSAGE, PART)}
    assert old - {page for table in (MESSAGE, PART) for page in leaves(damaged, table)}, "no page became free"
    spoil(damaged, *roots(damaged, MESSAGE, PART))
    salvage(damaged, new, [])
    assert {table: ids(new, table) for table in (MESSAGE, PART)} == left


@pytest.mark.parametrize("known", [True, False])
def test_a_permission_is_taken_only_if_it_was_surely_not_deleted(
    empty: Path, tmp_path: Path, known: bool
) -> None:
    damaged, new = tmp_path / "damaged.sqlite3", tmp_path / "new.sqlite3"
    grown(damaged, empty)
    with closing(sqlite3.connect(damaged)) as db, db:
        for number in range(200):
            add(
                db,
                RULE,
                project_id="p" * 40,
                permission="bash",
                pattern=f"{number} " + "x" * 99,
                action="allow",
            )
    without(damaged, PART, "id < 'prt_000000000002'")
    spoil(damaged, *roots(damaged, RULE, MESSAGE))
    if not known:
        data = bytearray(damaged.read_bytes())
        data[32:36] = bytes(4)  # the list of free pages
        damaged.write_bytes(data)
    done = salvage(damaged, new, [])
    assert (of(done, RULE).saved, of(done, MESSAGE).saved) == (200 if known else 0, 120)


def test_what_only_an_older_copy_has_was_deleted(damaged: Path, tmp_path: Path) -> None:
    older, newer = tmp_path / "older.sqlite3", tmp_path / "newer.sqlite3"
    copy_to(damaged, older)
    with closing(sqlite3.connect(damaged)) as db, db:
        db.execute(f"DELETE FROM {PART} WHERE message_id = 'msg_000000'")  # noqa: S608
    copy_to(damaged, newer)
    spoil(damaged, *range(2, damaged.stat().st_size // PAGE + 1))
    done = salvage(damaged, tmp_path / "new.sqlite3", [newer, older])
    assert (of(done, PART).copied, count(tmp_path / "new.sqlite3", PART)) == (142, 142)
