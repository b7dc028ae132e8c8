"""Folders of sessions: made, filled, put in order, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import session_folders
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def order(column: str) -> list[str]:
    rows = Session.objects.exclude(**{column: None}).order_by(f"-{column}")
    return await in_db(lambda: list(rows.values_list("id", flat=True)))


async def test_a_session_is_in_one_folder_and_stays_there_in_the_archive(tmp_path: Path) -> None:
    talks = [await Talk.begin(tmp_path, name) for name in ("one", "two", "three")]
    project, ids = talks[0].project, [talk.session.id for talk in talks]
    first = await in_db(session_folders.make, project.id, " the  first ", "red")
    second = await in_db(session_folders.make, project.id, "second", "grey")
    assert [row.name for row in await in_db(session_folders.of_project, project.id)] == [
        "the first",
        "second",
    ]
    await in_db(session_folders.put, ids, first)
    assert await order("time_filed") == ids
    await in_db(session_folders.put, ids[1:2], second)
    await in_db(session_store.archive, ids[0])
    listed = await in_db(session_store.listing, project, filed=True, archived=True)
    assert {row.id: row.session_folder_id for row in listed} == {
        ids[0]: first.id,
        ids[1]: second.id,
        ids[2]: first.id,
    }
    await in_db(session_folders.change, first, "renamed", "blue")
    await in_db(session_folders.fold, first, True)
    kept = await in_db(session_folders.get, project.id, first.id)
    assert kept is not None
    assert (kept.name, kept.colour, kept.folded) == ("renamed", "blue", True)
    await in_db(session_folders.remove, first)
    listed = await in_db(session_store.listing, project, filed=True, archived=True)
    assert [row.id for row in listed] == [ids[1]]
    await in_db(session_folders.put, ids[1:2], None)
    assert not await in_db(session_store.listing, project, filed=True, archived=True)


@pytest.mark.parametrize("place", ["folder", "pinned"])
async def test_an_order_by_hand(tmp_path: Path, place: str) -> None:
    talks = [await Talk.begin(tmp_path, name) for name in ("one", "two", "three")]
    ids = [talk.session.id for talk in talks]
    if place == "folder":
        folder = await in_db(session_folders.make, talks[0].project.id, "folder", "red")
        await in_db(session_folders.put, ids, folder)
    else:
        await in_db(lambda: Session.objects.filter(id__in=ids).update(time_pinned=1000))
    wanted = [ids[2], ids[0], ids[1]]
    await in_db(session_folders.arrange, wanted)
    assert await order("time_filed" if place == "folder" else "time_pinned") == wanted


async def test_what_has_no_order_is_left_as_it_is(tmp_path: Path) -> None:
    one, two = await Talk.begin(tmp_path, "one"), await Talk.begin(tmp_path, "two")
    folder = await in_db(session_folders.make, one.project.id, "folder", "red")
    await in_db(session_folders.put, [one.session.id], folder)
    await in_db(session_folders.arrange, [two.session.id, one.session.id, "unknown"])
    assert await order("time_filed") == [one.session.id]


@pytest.mark.parametrize(("name", "colour"), [("", "red"), ("x" * 41, "red"), ("a\0b", "red"), ("a", "pink")])
async def test_what_is_no_folder_is_refused(tmp_path: Path, name: str, colour: str) -> None:
    talk = await Talk.begin(tmp_path)
    with pytest.raises(session_folders.Refused):
        await in_db(session_folders.make, talk.project.id, name, colour)
