"""The palette's entries: what a few letters find, in which order, and what a browser is to do with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from agents.web.palette import Entry, Group, _found
from sessions.core.db import in_db
from sessions.core.store import added_folders
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
CONFIG = {"command": {"greet": {"template": "Greet $1", "description": "Greets somebody"}}}


@pytest.fixture
async def talk(tmp_path: Path, settings: Any) -> Talk:
    settings.MIDDLEWARE = []
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project" / "opencode.json").write_text(json.dumps(CONFIG))
    (tmp_path / "project" / "greeting.py").write_text("x\n")
    for title in ("Mend the <b>greeting", "Timelines"):
        await in_db(session_store.create, talk.project, str(tmp_path / "project"), title=title)
    return talk


async def found(talk: Talk, client: AsyncClient, query: str, *recent: str) -> list[tuple[str, list[str]]]:
    """The ids of the entries by their headings."""
    given = {"session": talk.session.id, "q": query, "recent": list(recent)}
    page = (await client.get("/pickers/palette", given)).content.decode()
    groups = re.split(r'<div role="group"', page)[1:]
    return [
        (re.findall(r'class="picker-head">([^<]*)', group)[0], re.findall(r'data-id="([^"]*)"', group))
        for group in groups
    ]


async def test_before_anything_is_typed_what_was_done_last_comes_first(
    talk: Talk, async_client: AsyncClient
) -> None:
    groups = await found(talk, async_client, "", "run:timeline", "gone:1", "run:undo")
    assert groups[0] == ("Recent", ["run:timeline", "run:undo"])
    titles = dict(groups)
    assert list(titles) == ["Recent", "Sessions", "Actions", "Settings"]
    assert "run:new" in titles["Actions"]
    assert "run:undo" not in titles["Actions"]
    assert len(titles["Sessions"]) == 2, "not the one that is shown"


async def test_a_few_letters_find_things_of_every_kind(talk: Talk, async_client: AsyncClient) -> None:
    groups = await found(talk, async_client, "gre")
    kinds = dict(groups)
    assert kinds["Files"] == ["file:greeting.py"]
    assert kinds["Commands"] == ["command:greet"]
    assert len(kinds["Sessions"]) == 1
    page = (await async_client.get("/pickers/palette", {"session": talk.session.id, "q": "greeting"})).content
    assert b"Mend the &lt;b&gt;greeting" in page
    assert b'data-act="open" data-value="greeting.py"' in " ".join(page.decode().split()).encode()
    assert next(iter(dict(await found(talk, async_client, "build")))) == "Agents"
    assert dict(await found(talk, async_client, "demo"))["Models"]
    assert "go:Accounts and keys of providers" in dict(await found(talk, async_client, "api key"))["Settings"]


async def test_nothing_is_said_so(talk: Talk, async_client: AsyncClient) -> None:
    page = await async_client.get("/pickers/palette", {"session": talk.session.id, "q": "<qqqzzz>"})
    assert "Nothing is called “&lt;qqqzzz&gt;”." in page.content.decode()


def test_what_begins_so_comes_before_what_has_it_somewhere() -> None:
    labels = ["A redo", "Undo the last", "Share", "Redo it", "Redo", "Road to Error, do it"]
    group = Group(
        "Actions",
        [Entry(label, label, "undo", "run", label, also="/redo" * (label == "Share")) for label in labels],
    )
    distance, entries = _found(group, "redo")
    assert distance == 0
    assert [entry.label for entry in entries] == ["Redo", "Redo it", "A redo", "Share"]
    assert [entry.label for entry in _found(group, "rterr")[1]] == ["Road to Error, do it"]


async def test_without_a_language_server_symbols_come_from_the_text(
    talk: Talk, async_client: AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "project" / "shapes.py").write_text(
        "class Square:\n    def <b>():\n    def area(self): ...\n"
    )
    given = {"session": talk.session.id, "kind": "files", "opened": "shapes.py"}
    page = (await async_client.get("/pickers/palette", {**given, "q": "@"})).content.decode()
    assert "Symbols of shapes.py, read from its text without a language server" in page
    assert 'data-value="shapes.py:1:7"' in page
    assert "Square · line 3" in page
    page = (await async_client.get("/pickers/palette", {**given, "q": "@AR"})).content.decode()
    assert re.findall(r'data-value="([^"]*)"', page) == ["shapes.py:1:7", "shapes.py:3:9"]
    page = (await async_client.get("/pickers/palette", {**given, "q": "@none"})).content.decode()
    assert "Nothing is called “@none”." in page


async def test_files_of_a_folder_beside_the_project_are_opened_by_their_whole_paths(
    talk: Talk, async_client: AsyncClient, tmp_path: Path
) -> None:
    library = tmp_path.resolve() / "library"
    library.mkdir()
    (library / "greetings.py").write_text("class Greeting: ...\n")
    await in_db(lambda: added_folders.add(talk.session, library))
    path = str(library / "greetings.py")
    given = {"session": talk.session.id, "kind": "files"}
    page = (await async_client.get("/pickers/palette", {**given, "q": "greetings:3"})).content.decode()
    assert "Files of library" in page
    assert f'data-value="{path}:3"' in page
    assert "library/greetings.py" in page
    page = (await async_client.get("/pickers/palette", {**given, "q": "library/greet"})).content.decode()
    assert f'data-value="{path}"' in page
    page = (await async_client.get("/pickers/palette", {**given, "q": "@", "opened": path})).content.decode()
    assert re.findall(r'data-value="([^"]*)"', page) == [f"{path}:1:7"]
    recent = [f"file:{path}", "file:/etc/passwd", f"file:{library}/none"]
    page = (await async_client.get("/pickers/palette", {**given, "q": "", "recent": recent})).content.decode()
    assert re.findall(r'data-value="(/[^"]*)"', page)[0] == path
    assert "passwd" not in page
    assert f"{library}/none" not in page
