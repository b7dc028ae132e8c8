"""What a person does to files, as a browser asks for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.store.sessions import BY_HAND
from tests.sessions.changes.review.world import World


async def act(client: AsyncClient, world: World, what: str, **values: Any) -> Any:
    return await client.post(f"/p/{world.project.id}/files/{what}", values)


def told(answer: Any) -> dict[str, str]:
    found: dict[str, str] = json.loads(answer.content)
    return found


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (b"one\ntwo\n", "one\n2\n", b"one\n2\n"),
        (b"one\r\ntwo\r\n", "one\nnew\ntwo\n", b"one\r\nnew\r\ntwo\r\n"),
        (b"one\r\ntwo\nthree\n", "one\ntwo\n3\n", b"one\r\ntwo\n3\n"),
        (b"\xef\xbb\xbfone", "two", b"\xef\xbb\xbftwo"),
        ("café\nx".encode("latin-1"), "café\ny", "café\ny".encode("latin-1")),
        ("aéé\n".encode() + b"\xff broken\nlast", "b\n\ufffd broken\nlast", b"b\n\xff broken\nlast"),
    ],
)
async def test_a_text_is_saved_as_the_file_writes_it(
    world: World, async_client: AsyncClient, before: bytes, text: str, after: bytes
) -> None:
    session = await world.session()
    (world.root / "file").write_bytes(before)
    seen = object_id(before)
    sent = text.replace("\n", "\r\n")  # as browsers do
    answer = await act(async_client, world, "save", session=session.id, path="file", seen=seen, text=sent)
    assert answer.status_code == 200
    assert (world.root / "file").read_bytes() == after
    assert told(answer)["seen"] == object_id(after)


async def test_all_line_ends_can_be_changed(world: World, async_client: AsyncClient) -> None:
    (world.root / "file").write_bytes(b"one\r\ntwo\n")
    values = {"path": "file", "seen": object_id(b"one\r\ntwo\n"), "text": "one\ntwo\n"}
    assert (await act(async_client, world, "save", **values, ending="crlf")).status_code == 200
    assert (world.root / "file").read_bytes() == b"one\r\ntwo\r\n"


async def test_what_the_encoding_has_not_is_said(world: World, async_client: AsyncClient) -> None:
    before = "café".encode("latin-1")
    (world.root / "file").write_bytes(before)
    answer = await act(async_client, world, "save", path="file", seen=object_id(before), text="€")
    assert answer.status_code == 422
    assert "latin-1" in told(answer)["words"]
    assert (world.root / "file").read_bytes() == before


async def test_what_changed_beneath_becomes_one_text(world: World, async_client: AsyncClient) -> None:
    base, mine = "one\ntwo\nthree\n", "one\ntwo\n3\n"
    world.write("kept.txt", "1\ntwo\nthree\n")
    asked = {"path": "kept.txt", "base": base, "text": mine}
    answer = await act(async_client, world, "save", path="kept.txt", seen=object_id(base.encode()), text=mine)
    assert answer.status_code == 409
    made = told(await act(async_client, world, "merge", **asked))
    assert (made["text"], made["base"]) == ("1\ntwo\n3\n", "1\ntwo\nthree\n")
    world.write("kept.txt", "one\ntwo\nIII\n")
    form = told(await act(async_client, world, "merge", **asked))["form"]
    for words in ("As you have it", "As it is on the disk", "III"):
        assert words in form
    made = told(await act(async_client, world, "merge", **asked, **{"choice-0": "other"}))
    assert made["text"] == "one\ntwo\nIII\n"
    made = told(await act(async_client, world, "merge", **asked, **{"choice-0": "hand", "text-0": "both\n"}))
    assert made["text"] == "one\ntwo\nboth\n"
    saved = await act(async_client, world, "save", path="kept.txt", seen=made["seen"], text=made["text"])
    assert saved.status_code == 200


async def test_acts_are_told_and_can_be_undone(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    in_session = {"session": session.id}
    for what, values in (
        ("make", {"path": "a/new.py"}),
        ("make", {"path": "empty", "folder": "1"}),
        ("move", {"path": "a/new.py", "to": "b/old.py"}),
        ("copy", {"path": "b/old.py"}),
        ("remove", {"path": "b/old.py"}),
    ):
        answer = await act(async_client, world, what, **in_session, **values)
        assert answer.status_code == 200, what
        assert ("hx-post" in answer.content.decode()) == ("folder" not in values)
    assert (world.root / "b/old copy.py").exists()
    assert not (world.root / "b/old.py").exists()
    done = await in_db(Operation.objects.latest, "id")
    await async_client.post(f"/p/{world.project.id}/log/operations/{done.id}/invert")
    assert (world.root / "b/old.py").exists()


async def test_a_copy_goes_into_a_folder_under_a_free_name(world: World, async_client: AsyncClient) -> None:
    for name in ("one.txt", "in/one.txt"):
        (world.root / name).parent.mkdir(exist_ok=True)
        (world.root / name).write_text(name)
    session = await world.session()
    for path, into in (("one.txt", "in"), ("in/one.txt", "."), ("in/one.txt", "other")):
        answer = await act(async_client, world, "copy", session=session.id, path=path, into=into)
        assert answer.status_code == 200
    made = ("in/one copy.txt", "one copy.txt", "other/one.txt")
    assert [(world.root / name).read_text() for name in made] == ["one.txt", "in/one.txt", "in/one.txt"]


async def test_files_are_uploaded_into_a_folder(world: World, async_client: AsyncClient) -> None:
    given = [SimpleUploadedFile("a.txt", b"a"), SimpleUploadedFile("b.bin", b"\0")]
    assert (await act(async_client, world, "upload", path="in", file=given)).status_code == 200
    assert (world.root / "in/b.bin").read_bytes() == b"\0"
    again = await act(async_client, world, "upload", path="in", file=[SimpleUploadedFile("a.txt", b"z")])
    assert again.status_code == 422
    assert "There is a in/a.txt already" in again.content.decode()


async def test_without_a_session_one_is_made_once(world: World, async_client: AsyncClient) -> None:
    first = await act(async_client, world, "make", path="one")
    second = await act(async_client, world, "make", path="two")
    assert first["X-Session"] == second["X-Session"]
    session = await in_db(Session.objects.get, id=first["X-Session"])
    assert session.title == BY_HAND
    other = await world.session()
    assert (await act(async_client, world, "make", path="three", session=other.id))["X-Session"] == other.id


@pytest.mark.parametrize("path", ["", "  ", ".", "../out", ".git/config", "a\0b"])
async def test_a_bad_name_is_refused(world: World, async_client: AsyncClient, path: str) -> None:
    answer = await act(async_client, world, "make", path=path)
    assert answer.status_code == 422
    assert "toast" in answer.content.decode()
