from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from opencode_web.site import database
from sessions.changes.upkeep import damage
from sessions.core.index import fts
from tests.opencode_web.damaged import (
    MESSAGE,
    PAGE,
    PART,
    SESSION,
    conversations,
    count,
    grown,
    leaves,
    schema_pages,
    spoil,
)


def make(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE notes (text TEXT)")
        db.executemany("INSERT INTO notes VALUES (?)", [("x" * 500,)] * 200)


def test_a_sound_database_stays_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "db.sqlite3"
    assert database.put_aside(file) is None
    make(file)
    database.verify_wal(file)
    assert database.put_aside(file) is None
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("SELECT count(*) FROM notes").fetchone()[0] == 200


@pytest.mark.parametrize("offset", [0, 4096 * 3])
def test_a_damaged_database_is_put_aside_whole(tmp_path: Path, offset: int) -> None:
    file = tmp_path / "db.sqlite3"
    make(file)
    damaged = bytearray(file.read_bytes())
    damaged[offset : offset + 64] = b"\xff" * 64
    file.write_bytes(damaged)
    (tmp_path / "db.sqlite3-wal").write_bytes(b"log")

    aside = database.put_aside(file)
    assert aside is not None
    assert aside.name.startswith("db.sqlite3.corrupt-")
    assert aside.read_bytes() == damaged
    assert {path.name for path in tmp_path.iterdir()} <= {
        aside.name,
        "in-use.lock",
        f"{aside.name}-wal",
        f"{aside.name}-shm",
    }


@pytest.mark.django_db
def test_what_can_be_read_goes_into_a_new_database_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = at(tmp_path, monkeypatch)
    conversations(file)
    page = leaves(file, PART)[10]
    spoil(file, page)
    said = database.mend(file)
    assert re.match(
        r"The database was damaged. Saved: 6 conversations, 72 messages, 14\d parts of messages. "
        r"Lost: [1-4] parts? of messages. The damaged file was kept as /.*corrupt-",
        said,
    ), said
    assert count(file, SESSION) == 6
    assert database.mend(file) == ""
    (damaged,) = damage.files()
    assert damaged.read_bytes()[(page - 1) * PAGE :][:4] == b"\xff" * 4


@pytest.mark.long
@pytest.mark.django_db
def test_where_nothing_has_the_list_of_tables_a_new_database_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = at(tmp_path, monkeypatch)
    (tmp_path / "tables").mkdir()
    empty = database.make_tables(tmp_path / "tables")
    assert empty
    grown(file, empty)
    spoil(file, *schema_pages(file))
    said = database.mend(file)
    assert "Saved: 6 conversations, 120 messages, 360 parts of messages. More may be lost" in said
    assert [count(file, table) for table in (SESSION, MESSAGE, PART)] == [6, 120, 360]
    assert database.mend(file) == ""


@pytest.mark.django_db
def test_a_start_that_was_cut_off_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = at(tmp_path, monkeypatch)
    conversations(file)
    spoil(file, leaves(file, PART)[10])
    aside = database.put_aside(file)
    assert aside
    assert not file.exists()
    assert "Saved: 6 conversations" in database.mend(file)
    assert damage.files() == [aside]


def at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of the app is here, for what looks at its file."""
    file = folder / "db.sqlite3"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", file)
    monkeypatch.setattr(settings, "COPY_DIR", folder / "copies")
    return file


def test_what_cannot_be_opened_is_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "db.sqlite3"
    folder.mkdir()
    with pytest.raises(database.Unusable, match="cannot be opened"):
        database.put_aside(folder)
    assert folder.is_dir()


@pytest.mark.django_db
def test_a_database_of_a_newer_program_is_refused() -> None:
    assert database.pending_migrations() == set()
    MigrationRecorder(connection).record_applied("opencode_sessions", "9999_from_the_future")
    with pytest.raises(database.Unusable, match=r"newer .* opencode_sessions.9999_from_the_future"):
        database.pending_migrations()


@pytest.mark.django_db
def test_a_missing_migration_is_pending() -> None:
    MigrationRecorder(connection).record_unapplied("opencode_sessions", "0001_initial")
    assert ("opencode_sessions", "0001_initial") in database.pending_migrations()


def test_a_new_database_is_what_all_migrations_make(tmp_path: Path) -> None:
    new, migrated = tmp_path / "new", tmp_path / "migrated"
    for folder, code in (
        (new, "from opencode_web.site import database; database.prepare()"),
        (migrated, "from django.core.management import call_command; call_command('migrate', verbosity=0)"),
    ):
        environ = os.environ | {
            "XDG_DATA_HOME": str(folder),
            "DJANGO_SETTINGS_MODULE": "opencode_web.settings",
        }
        (folder / "opencode-web").mkdir(parents=True)
        subprocess.run(
            [sys.executable, "-c", f"import django; django.setup(); {code}"], env=environ, check=True
        )
    made, wanted = (schema(folder / "opencode-web/db.sqlite3") for folder in (new, migrated))
    assert made.pop("triggers")
    assert not wanted.pop("triggers")
    assert made == wanted
    assert len(made["tables"]) > 20
    assert made["rows"] == {"django_migrations": made["rows"]["django_migrations"]}


def schema(file: Path) -> dict[str, Any]:
    """Of each table columns in any order, what they refer to, checks, how many rows it has; indexes."""
    with closing(sqlite3.connect(file)) as db:
        kept = db.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
        ).fetchall()
        tables = {name: sql for type, name, sql in kept if type == "table"}
        return {
            "tables": {
                name: (
                    {row[1:] for row in db.execute(f'PRAGMA table_info("{name}")')},
                    {row[2:] for row in db.execute(f'PRAGMA foreign_key_list("{name}")')},
                    sorted(re.findall(r"CONSTRAINT .*?\)(?=, |\)$)", sql)),
                    sql.count("CHECK"),
                )
                for name, sql in tables.items()
            },
            "indexes": {(name, sql) for type, name, sql in kept if type == "index"},
            "triggers": {name for type, name, _ in kept if type == "trigger"},
            "rows": {
                name: count
                for name in tables
                if not name.startswith(fts.PREFIX)
                and (count := db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608
            },
        }
