"""Schedules in Markdown files: what they may say, and that they count once a person trusts them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.agent import trust
from agents.agent.schedules import acts, files
from sessions.core.db import in_db
from sessions.core.models import Project, Schedule
from sessions.core.store import projects, schedules
from sessions.core.store.schedules import Happened

NIGHTLY = """---
name: Nightly
schedule: "0 3 * * *"
timezone: Europe/Berlin
mode: alone
cost: 2
---
Look around.
"""


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.TRUST_FILE = tmp_path / "trust.json"
    path = tmp_path / "project"
    (path / ".agents/loops").mkdir(parents=True)
    (path / ".opencode/schedules").mkdir(parents=True)
    return path


def write(folder: Path, text: str, name: str = ".agents/loops/nightly.md") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_in_the_form_that_other_programs_have(folder: Path) -> None:
    write(folder, NIGHTLY)
    (found,) = files.found(folder)
    assert found.terms is not None
    assert (found.name, found.trusted, found.problem) == (".agents/loops/nightly.md", False, files.UNTRUSTED)
    assert (found.terms.name, found.terms.kind, found.terms.rule) == ("Nightly", "cron", "0 3 * * *")
    assert (found.terms.zone, found.terms.preset, found.terms.cost) == ("Europe/Berlin", "alone", 2.0)
    assert found.terms.text == "Look around."


@pytest.mark.parametrize(
    ("front", "kind", "rule"),
    [
        ("cron: '@hourly'", "cron", "0 * * * *"),
        ("daily: 09:30", "cron", "30 9 * * *"),
        ("at: 2026-12-01T09:00", "once", "2026-12-01T09:00"),
        ("files: [src/*, docs/*]", "files", "src/*\ndocs/*"),
        ("commit: main", "commit", "main"),
        ("hook: true", "hook", ""),
    ],
)
def test_the_ways_to_say_when(folder: Path, front: str, kind: str, rule: str) -> None:
    write(folder, f"---\n{front}\n---\nGo.\n", ".opencode/schedules/one.md")
    (found,) = files.found(folder)
    assert found.terms is not None, found.problem
    assert (found.terms.kind, found.terms.rule, found.terms.name) == (kind, rule, "one")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Go.", "Say when"),
        ("---\nhook: true\ncommit: main\n---\nGo.", "Say when"),
        ("---\nhook: true\nfoo: 1\n---\nGo.", "foo"),
        ("---\ncron: every day\n---\nGo.", "five fields"),
        ("---\nhook: true\nmode: root\n---\nGo.", "mode"),
        ("---\nhook: true\ntimezone: Berlin\n---\nGo.", "no time zone"),
        ("---\nhook: true\n---\n", "Say what is to be done"),
        ("---\nhook: [", "line of ---"),
    ],
)
def test_what_says_no_schedule_says_why(folder: Path, text: str, words: str) -> None:
    write(folder, text)
    (found,) = files.found(folder)
    assert found.terms is None
    assert words in found.problem
    assert files.wants(folder) == []


def test_a_link_out_of_the_project_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(NIGHTLY)
    (folder / ".agents/loops/link.md").symlink_to(tmp_path / "own.md")
    assert files.found(folder) == []


async def known(folder: Path) -> tuple[Project, dict[str, Schedule]]:
    project = await in_db(projects.open_project, folder)
    await acts.read_files(project)
    return project, await in_db(schedules.of_files, project.id)


@pytest.mark.django_db(transaction=True)
async def test_it_is_off_until_exactly_this_is_trusted(folder: Path) -> None:
    path = write(folder, NIGHTLY)
    _, rows = await known(folder)
    (row,) = rows.values()
    assert (row.problem, row.due) == (files.UNTRUSTED, None)
    (want,) = trust.untrusted(folder)
    assert "0 3 * * *" in want.wishes[0].detail
    assert "mode: alone" in want.wishes[0].detail
    trust.trust(folder, trust.fingerprint([want]))
    _, rows = await known(folder)
    (row,) = rows.values()
    assert (row.problem, row.paused) == ("", False)
    assert row.due is not None
    path.write_text(NIGHTLY.replace("Look around.", "Delete everything."))
    _, rows = await known(folder)
    (row,) = rows.values()
    assert (row.problem, row.due) == (files.UNTRUSTED, None)


@pytest.mark.django_db(transaction=True)
async def test_many_that_read_it_at_once_make_one_row(folder: Path) -> None:
    write(folder, NIGHTLY)
    project = await in_db(projects.open_project, folder)
    read = await asyncio.gather(*(acts.read_files(project) for _ in range(6)))
    assert read == [[]] * 6
    assert list(await in_db(schedules.of_files, project.id)) == [".agents/loops/nightly.md"]


@pytest.mark.django_db(transaction=True)
async def test_one_more_than_there_may_be_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST", 1)
    write(folder, NIGHTLY)
    write(folder, NIGHTLY, ".agents/loops/other.md")
    project = await in_db(projects.open_project, folder)
    (left,) = await acts.read_files(project)
    assert (left.name, left.problem) == (".agents/loops/other.md", "A project may have 1 schedules.")


@pytest.mark.django_db(transaction=True)
async def test_one_that_says_so_begins_paused_and_one_that_is_gone_leaves_its_runs(folder: Path) -> None:
    path = write(folder, NIGHTLY.replace("cost: 2", "enabled: false"))
    trust.trust(folder, trust.fingerprint(trust.untrusted(folder)))
    _, rows = await known(folder)
    (row,) = rows.values()
    assert (row.paused, row.due) == (True, None)
    await in_db(schedules.note, row, Happened("hand 1", "hand", 1))
    path.unlink()
    _, rows = await known(folder)
    (row,) = rows.values()
    assert row.problem == files.GONE
    await acts.remove(row)
    other = write(folder, NIGHTLY)
    assert len((await known(folder))[1]) == 1
    other.unlink()
    assert (await known(folder))[1] == {}
