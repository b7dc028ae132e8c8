"""Comments on lines of a file that nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import comments
from tests.sessions.changes.review.world import World

TEXT = b"one\r\ntwo\r\nthree\r\n"


async def asked(client: AsyncClient, world: World, session: Session, **given: Any) -> Any:
    url = f"/p/{world.project.id}/s/{session.id}/files/comments"
    return await (client.post(url, {"path": "file"} | given) if given else client.get(url, {"path": "file"}))


async def test_they_are_where_their_lines_are(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    (world.root / "file").write_bytes(TEXT)
    given = {"seen": object_id(TEXT), "start": 2, "end": 3, "text": " Why? "}
    answer = (await asked(async_client, world, session, **given)).json()
    assert answer["seen"] == object_id(TEXT)
    (told,) = answer["comments"]
    assert (told["start"], told["end"], told["outdated"], told["state"]) == (2, 3, False, "draft")
    assert told["text"] == "Why?"
    (draft,) = await in_db(comments.drafts, session.id)
    assert (draft.path, draft.code) == ("file", "two\r\nthree\r\n")

    (world.root / "file").write_bytes(b"zero\r\n" + TEXT)
    (told,) = (await asked(async_client, world, session)).json()["comments"]
    assert (told["start"], told["end"], told["outdated"]) == (3, 4, False)
    (world.root / "file").write_bytes(b"other\n")
    (told,) = (await asked(async_client, world, session)).json()["comments"]
    assert (told["start"], told["outdated"]) == (1, True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": "  "}, "Write something first."),
        ({"text": "x" * 20_001}, "A comment may have 20,000 characters."),
        ({"seen": object_id(b"other")}, "It has been changed meanwhile; your text is still here."),
        ({"start": 9, "end": 9}, "It has been changed meanwhile; your text is still here."),
        ({"path": "none"}, "It has been changed meanwhile; your text is still here."),
        ({"path": "../outside"}, "It has been changed meanwhile; your text is still here."),
    ],
)
async def test_what_is_refused_says_why(
    world: World, async_client: AsyncClient, given: dict[str, Any], words: str
) -> None:
    session = await world.session()
    (world.root / "file").write_bytes(TEXT)
    rest = {"seen": object_id(TEXT), "start": 1, "end": 1, "text": "Why?"}
    answer = await asked(async_client, world, session, **rest | given)
    assert (answer.status_code, answer.json()) == (422, {"words": words})
    assert await in_db(comments.drafts, session.id) == []


async def test_a_file_that_is_gone_has_them_still(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    (world.root / "file").write_bytes(TEXT)
    given = {"seen": object_id(TEXT), "start": 2, "end": 2, "text": "Why?"}
    await asked(async_client, world, session, **given)
    (world.root / "file").unlink()
    answer = (await asked(async_client, world, session)).json()
    assert (answer["seen"], [one["outdated"] for one in answer["comments"]]) == ("", [True])


async def test_what_is_no_line_is_not_found(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    (world.root / "file").write_bytes(TEXT)
    given = {"seen": object_id(TEXT), "start": "x", "end": 1, "text": "Why?"}
    assert (await asked(async_client, world, session, **given)).status_code == 404
