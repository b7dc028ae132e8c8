"""Copies of the database: when they are made, and which are kept."""

from __future__ import annotations

import fcntl
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings

from sessions.changes.upkeep import copies
from sessions.changes.upkeep.copies import HOUR_SECONDS, PATIENCE_SECONDS, QUIET_SECONDS, Copier
from tests.opencode_web.damaged import PART, add, conversations, count

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]
NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of the app, of which there is no copy yet."""
    file = tmp_path / "db.sqlite3"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", file)
    monkeypatch.setattr(settings, "COPY_DIR", tmp_path / "copies")
    conversations(file)
    return file


def work(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        add(db, "opencode_sessions_event", type="session.updated")


def dates() -> list[str]:
    return [path.name[len("db-202605") :][:5] for path in copies.copies(NOON)]


def test_a_copy_is_whole_and_made_only_of_new_work(file: Path) -> None:
    with closing(sqlite3.connect(file)) as writer:
        writer.execute(f"DELETE FROM {PART}")  # noqa: S608
        assert copies.copy_new_work(NOON)  # while somebody writes
    assert count(copies.copies()[0], PART) == 144
    later = NOON + timedelta(hours=1)
    assert copies.copy_new_work(later) is None
    work(file)
    made = copies.copy_new_work(later)
    assert copies.copies(later)[0] == made
    assert copies.size() == sum(path.stat().st_size for path in copies.copies())
    assert all(path.stat().st_mode & 0o077 == 0 for path in copies.copies())
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("DELETE FROM opencode_sessions_event")  # as old ones are
    assert copies.copy_new_work(later) is None


def test_a_copy_that_cannot_be_read_counts_for_nothing(file: Path) -> None:
    made = copies.copy_new_work(NOON)
    assert made
    made.write_bytes(b"\xff" * 8192)
    assert copies.copy_new_work(NOON + timedelta(hours=1))


def test_the_newest_copies_are_kept_and_the_last_of_each_day(file: Path) -> None:
    for hour in range(10 * 24, -1, -6):
        copies.copy_now(NOON - timedelta(hours=hour))
    assert dates() == ["20T12", "20T06", "20T00", "19T18", "18T18", "17T18", "16T18", "15T18", "14T18"]


def test_days_without_work_cost_no_copy(file: Path) -> None:
    for day in range(40, -1, -5):
        copies.copy_now(NOON - timedelta(days=day))
    assert len(copies.copies()) == copies.DAYS


def test_large_copies_are_fewer(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "STORE_QUOTA", 5 * 4.5 * file.stat().st_size)
    for day in range(9, -1, -1):
        copies.copy_now(NOON - timedelta(days=day))
    assert dates() == ["20T12", "19T12", "18T12", "17T12"]


def test_copies_of_a_clock_that_was_ahead_are_the_last(file: Path) -> None:
    for day in range(1, 10):
        copies.copy_now(NOON + timedelta(days=day))
    made = copies.copy_now(NOON)
    assert copies.copies(NOON)[0] == made
    assert len(copies.copies()) <= copies.DAYS + copies.NEWEST


def test_one_is_made_at_a_time(file: Path) -> None:
    copies.folder().mkdir()
    with (copies.folder() / "copy.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        partial = copies.folder() / "db-20260520T120000000000Z.sqlite3.partial"
        partial.write_bytes(b"of the other")
        assert copies.copy_now(NOON) is None
        assert partial.exists()
    assert copies.copy_now(NOON)
    assert not partial.exists()


class World:
    """A clock that is set, and turns."""

    def __init__(self) -> None:
        self.now = 5000.0
        self.busy = False
        self.copier = Copier(lambda: self.busy, lambda: self.now)

    async def after(self, seconds: float) -> bool:
        """Whether a copy is made so much later."""
        self.now += seconds
        return await self.copier.look() is not None


async def test_a_copy_is_made_in_the_first_quiet_minute_after_a_start(file: Path) -> None:
    world = World()
    assert not await world.after(QUIET_SECONDS - 1)
    world.busy = True
    assert not await world.after(10)
    world.busy = False
    assert not await world.after(QUIET_SECONDS - 1)
    assert await world.after(1)


async def test_a_copy_is_made_after_each_hour_with_new_work(file: Path) -> None:
    world = World()
    assert await world.after(QUIET_SECONDS)
    work(file)
    assert not await world.after(HOUR_SECONDS - 1)
    assert await world.after(1)
    assert not await world.after(HOUR_SECONDS)
    work(file)
    assert not await world.after(HOUR_SECONDS - 1)
    assert await world.after(1)


async def test_turns_put_a_copy_off_for_a_quarter_of_an_hour(file: Path) -> None:
    world = World()
    assert await world.after(QUIET_SECONDS)
    work(file)
    world.busy = True
    assert not await world.after(HOUR_SECONDS)
    assert not await world.after(PATIENCE_SECONDS - 1)
    assert await world.after(1)


async def test_what_cannot_be_copied_is_tried_again_an_hour_later(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copies.folder().write_text("in the way")
    world = World()
    assert not await world.after(QUIET_SECONDS)
    assert "was not copied" in caplog.text
    copies.folder().unlink()
    assert await world.after(HOUR_SECONDS)
