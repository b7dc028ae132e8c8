"""Files of folders beside the project, as a session's page asks for them: by their whole paths."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient
from django.urls import reverse

from sessions.changes.operations.lock import project_lock
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import FileChange, Operation, Pin, Session
from sessions.core.store import added_folders, comments
from tests.sessions.changes.review.world import World, fresh

OWN = b"the library's\n"


@pytest.fixture
async def session(world: World, library: World) -> Session:
    """It may write in the library."""
    session = await world.session()
    assert await in_db(lambda: added_folders.add(session, library.root, write=True))
    return await fresh(session)


@pytest.fixture
async def reference(tmp_path: Path, session: Session) -> Path:
    """A folder that it may read."""
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "read.md").write_text("# Read\n")
    assert await in_db(lambda: added_folders.add(session, folder))
    return folder


async def got(client: AsyncClient, session: Session, what: str, path: Path | str, by: str = "") -> Any:
    query = {"path": str(path), "session": by or session.id}
    return await client.get(f"/p/{session.project_id}/files/{what}", query)


async def posted(client: AsyncClient, session: Session, what: str, **given: Any) -> Any:
    return await client.post(f"/p/{session.project_id}/files/{what}", {"session": session.id} | given)


async def test_they_are_shown(
    world: World, library: World, session: Session, reference: Path, async_client: AsyncClient
) -> None:
    path = library.root / "kept.txt"
    page = (await got(async_client, session, "view", path)).content.decode()
    assert "the library&#x27;s" in page
    assert f'data-path="{path}"' in page
    assert "data-locked" not in page
    page = (await got(async_client, session, "view", reference / "read.md")).content.decode()
    assert "It cannot be edited here: It is in a folder that was added for reading only." in page
    assert "data-opened-save" not in page
    assert f"session={session.id}" in page
    raw = await got(async_client, session, "raw", path)
    assert (raw.status_code, raw["Content-Length"]) == (200, str(len(OWN)))
    shown = await got(async_client, session, "preview", reference / "read.md")
    assert ">Read</h" in shown.content.decode()


async def test_who_has_not_added_a_folder_sees_nothing_of_it(
    world: World, library: World, session: Session, async_client: AsyncClient
) -> None:
    other, path = await world.session(), library.root / "kept.txt"
    for by in (other.id, "ses_none"):
        assert b'data-kind="gone"' in (await got(async_client, session, "view", path, by)).content
        assert (await got(async_client, session, "raw", path, by)).status_code == 404
    for out in (f"{library.root}/../project/kept.txt", "/etc/passwd", f"{library.root}-other/x"):
        assert b'data-kind="gone"' in (await got(async_client, session, "view", out)).content
    (library.root / "away").symlink_to("/etc/passwd")
    assert b'data-kind="gone"' in (await got(async_client, session, "view", library.root / "away")).content


async def test_what_is_saved_is_of_its_root_and_taken_back(
    world: World, library: World, session: Session, async_client: AsyncClient
) -> None:
    path = library.root / "kept.txt"
    given = {"path": str(path), "seen": object_id(OWN), "text": "mine\n"}
    assert (await posted(async_client, session, "save", **given)).json() == {"seen": object_id(b"mine\n")}
    assert path.read_text() == "mine\n"
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"
    row = await in_db(FileChange.objects.get)
    assert (row.project_id, row.path, row.session_id) == (library.project.id, "kept.txt", session.id)
    assert (await posted(async_client, session, "save", **given)).status_code == 409
    operation = await in_db(Operation.objects.get)
    await async_client.post(reverse("invert-operation", args=(session.project_id, operation.id)))
    assert path.read_bytes() == OWN


async def test_the_lock_of_its_root_holds(
    library: World, session: Session, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.changes.operations.lock._VERDICT_TRIES", 1)
    given = {"path": str(library.root / "kept.txt"), "seen": object_id(OWN), "text": "mine\n"}
    with project_lock(library.project.id):
        assert (await posted(async_client, session, "save", **given)).status_code == 422
    assert (library.root / "kept.txt").read_bytes() == OWN


async def test_files_are_made_moved_and_removed(
    library: World, session: Session, async_client: AsyncClient
) -> None:
    root = library.root
    await posted(async_client, session, "make", path=f"{root}/in/new.txt")
    await posted(async_client, session, "move", path=f"{root}/in", to=f"{root}/deep/in")
    await posted(async_client, session, "copy", path=f"{root}/kept.txt", into=f"{root}/deep")
    await posted(async_client, session, "remove", path=f"{root}/kept.txt")
    assert sorted(path for path in library.state() if not (root / path).is_dir()) == [
        "deep/in/new.txt",
        "deep/kept.txt",
    ]
    answer = await posted(async_client, session, "move", path=f"{root}/deep", to="deep")
    assert "from one project to another" in answer.content.decode()


async def test_nothing_is_written_where_it_is_for_reading(
    session: Session, reference: Path, async_client: AsyncClient
) -> None:
    seen = object_id(b"# Read\n")
    answer = await posted(async_client, session, "save", path=str(reference / "read.md"), seen=seen, text="x")
    assert (answer.status_code, answer.json()["words"]) == (
        422,
        "reference is a folder that was added for reading only.",
    )
    answer = await posted(async_client, session, "remove", path=str(reference / "read.md"))
    assert "added for reading only" in answer.content.decode()
    assert (reference / "read.md").read_text() == "# Read\n"


async def test_what_both_changed_is_merged(
    library: World, session: Session, async_client: AsyncClient
) -> None:
    path = library.root / "kept.txt"
    path.write_text("a\nb\nc\nD\n")
    given = {"path": str(path), "base": "a\nb\nc\nd\n", "text": "A\nb\nc\nd\n"}
    assert (await posted(async_client, session, "merge", **given)).json()["text"] == "A\nb\nc\nD\n"
    given["text"] = "a\nb\nc\nmine\n"
    assert "As it is on the disk" in (await posted(async_client, session, "merge", **given)).json()["form"]


async def test_a_comment_is_on_the_file_of_its_root(
    world: World, library: World, session: Session, async_client: AsyncClient
) -> None:
    path = str(library.root / "kept.txt")
    url = f"/p/{session.project_id}/s/{session.id}/files/comments"
    given = {"path": path, "seen": object_id(OWN), "start": 1, "end": 1, "text": "Whose?"}
    (told,) = (await async_client.post(url, given)).json()["comments"]
    assert (told["start"], told["outdated"]) == (1, False)
    (draft,) = await in_db(comments.drafts, session.id)
    assert (draft.path, draft.code) == (path, OWN.decode())
    assert (await async_client.get(url, {"path": "kept.txt"})).json()["comments"] == []


async def test_a_comment_on_a_diff_goes_to_where_its_lines_are(
    library: World, session: Session, async_client: AsyncClient
) -> None:
    await library.edit(session, ascending("msg"), "kept.txt", "agent\n")
    path = str(library.root / "kept.txt")
    base = f"/p/{session.project_id}/s/{session.id}/comments"
    given = {"path": path, "step": 0, "side": "new", "start": 1, "end": 1, "text": "Why?"}
    assert (await async_client.post(base, given)).status_code == 204
    (library.root / "kept.txt").write_text("above\nagent\n")
    await async_client.post(f"{base}/send", {"words": ""})
    rows = await in_db(lambda: list(session.inbox.values_list("parts", flat=True)))
    assert f"{path}, line 2:" in json.dumps(rows)


async def test_texts_that_name_them_are_known(
    library: World, session: Session, reference: Path, async_client: AsyncClient
) -> None:
    whole = str(library.root / "kept.txt")
    texts = [whole, "library/kept.txt", "reference/read.md", "read.md", "/etc/passwd", "library/none"]
    found = (await posted(async_client, session, "known", path=texts)).json()
    assert found == {
        whole: whole,
        "library/kept.txt": whole,
        "reference/read.md": str(reference / "read.md"),
    }


async def test_one_is_pinned(library: World, session: Session, async_client: AsyncClient) -> None:
    url, path = f"/p/{session.project_id}/s/{session.id}/pins", str(library.root / "kept.txt")
    assert b"Pinned" in (await async_client.post(url, {"path": path})).content
    pin = await in_db(Pin.objects.get)
    assert (pin.path, pin.text) == (path, OWN.decode())


def paths(page: str) -> list[str]:
    return re.findall(r'data-path="([^"]*)"', page)


async def tree(client: AsyncClient, session: Session, **query: str) -> str:
    answer = await client.get(f"/p/{session.project_id}/files/tree", {"session": session.id} | query)
    return str(answer.content.decode())


async def test_they_are_in_the_tree(
    world: World, library: World, session: Session, reference: Path, async_client: AsyncClient
) -> None:
    library.write("deep/x.txt", "x\n")
    root = str(library.root)
    page = await tree(async_client, session)
    assert paths(page) == ["kept.txt", root, str(reference)]
    assert f'data-root="may be written" title="{root}"' in page
    assert f'data-root="read-only" title="{reference}"' in page
    assert paths(await tree(async_client, session, path=root)) == [f"{root}/deep", f"{root}/kept.txt"]
    assert paths(await tree(async_client, session, path=f"{root}/deep")) == [f"{root}/deep/x.txt"]
    assert paths(await tree(async_client, session, q="x.txt")) == [f"{root}/deep/x.txt"]
    assert paths(await tree(async_client, await world.session())) == ["kept.txt"]
    marks = f"/p/{session.project_id}/files/marks?session={session.id}"
    told = (await async_client.get(marks)).json()
    assert told["roots"] == [root, str(reference)]
    assert told["git"] == {}
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", root], check=True)
    told = (await async_client.get(marks)).json()
    assert told["git"] == {f"{root}/deep/": "?", f"{root}/kept.txt": "?"}


async def test_a_folder_itself_is_neither_moved_nor_removed(
    world: World, library: World, session: Session, async_client: AsyncClient
) -> None:
    root = str(library.root)
    assert "leads out" in (await posted(async_client, session, "remove", path=root)).content.decode()
    for to in (f"{world.root.parent}/other", "in"):
        await posted(async_client, session, "move", path=root, to=to)
    assert (library.root / "kept.txt").read_bytes() == OWN


async def found(client: AsyncClient, session: Session, **query: str) -> str:
    url = f"/p/{session.project_id}/files/find"
    answer: Any = await client.get(url, {"session": session.id} | query)
    return b"".join([part async for part in answer.streaming_content]).decode()


async def test_they_are_searched_below_their_names(
    world: World, library: World, session: Session, reference: Path, async_client: AsyncClient
) -> None:
    world.write("own.txt", "Read\n")
    library.write("theirs.txt", "Read it\n")
    page = await found(async_client, session, q="Read", replaces="on", **{"with": "Seen"})
    assert paths(page) == ["own.txt", str(library.root / "theirs.txt"), str(reference / "read.md")]
    assert page.index("find-root") > page.index("own.txt")
    assert page.count("find-root") == 2
    assert page.count("data-find-replace") == 2, "nothing is replaced in a folder for reading"
    assert "3 lines in 3" in " ".join(page.split())

    given = {"q": "Read", "replaces": "on", "with": "Seen", "path": paths(page)[:2]}
    await posted(async_client, session, "replace", **given)
    assert (world.root / "own.txt").read_text() == "Seen\n"
    assert (library.root / "theirs.txt").read_text() == "Seen it\n"
    operation = await in_db(Operation.objects.get)
    await async_client.post(reverse("invert-operation", args=(session.project_id, operation.id)))
    assert (world.root / "own.txt").read_text() == "Read\n"
    assert (library.root / "theirs.txt").read_text() == "Read it\n"
    refused = await posted(async_client, session, "replace", **given | {"path": [str(reference / "read.md")]})
    assert "added for reading only" in refused.content.decode()
    assert (reference / "read.md").read_text() == "# Read\n"
