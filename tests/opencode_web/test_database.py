from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from opencode_web import database


def make(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE notes (text TEXT)")
        db.executemany("INSERT INTO notes VALUES (?)", [("x" * 500,)] * 200)


def test_a_sound_database_stays_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "db.sqlite3"
    assert database.quarantine_if_corrupt(file) is None
    make(file)
    database.verify_wal(file)
    assert database.quarantine_if_corrupt(file) is None
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

    aside = database.quarantine_if_corrupt(file)
    assert aside is not None
    assert aside.name.startswith("db.sqlite3.corrupt-")
    assert aside.read_bytes() == damaged
    assert {path.name for path in tmp_path.iterdir()} <= {
        aside.name,
        f"{aside.name}-wal",
        f"{aside.name}-shm",
    }


def test_what_cannot_be_opened_is_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "db.sqlite3"
    folder.mkdir()
    with pytest.raises(database.Unusable, match="cannot be opened"):
        database.quarantine_if_corrupt(folder)
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
