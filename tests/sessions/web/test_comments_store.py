"""Comments in the rows: drafts, sent with a prompt, drafts again when that prompt is no more."""

from __future__ import annotations

import html
import json
import re

from django.test import AsyncClient
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.store import comments, inbox
from tests.sessions.changes.review.world import World


async def test_a_withdrawn_prompt_leaves_its_comments_as_drafts(world: World) -> None:
    session = await world.session()
    fields = {"path": "a", "side": "new", "start": 1, "end": 1, "code": "x\n"}
    row = await in_db(lambda: comments.add(session, text="Why?", **fields))
    prompt = await in_db(inbox.admit, session, [{"type": "text", "text": "Comments"}])
    await in_db(comments.sent, session, [row.id], prompt.id)
    assert await in_db(comments.drafts, session.id) == []
    assert not await in_db(comments.reword, session, row.id, "Too late")

    await in_db(inbox.withdraw, session.id, prompt.id)
    assert [draft.text for draft in await in_db(comments.drafts, session.id)] == ["Why?"]
    assert await in_db(comments.reword, session, row.id, "Why not?")
    ((thread,),) = (await in_db(comments.threads, session.id)).values()
    assert (thread.comment.text, thread.state) == ("Why not?", "draft")


async def test_a_comment_that_is_removed_comes_back(
    world: World, async_client: AsyncClient, settings: Settings
) -> None:
    settings.MIDDLEWARE = []
    session = await world.session()
    where = {"path": "a\udcff", "side": "old", "start": 2, "end": 3, "code": "x\n", "scope": {"kind": "step"}}
    row = await in_db(lambda: comments.add(session, text="Why <so>?", actor="ada", **where))
    other = await world.session()

    url = f"/p/{session.project_id}/s/{session.id}/comments"
    answer = await async_client.post(f"{url}/{row.id}/remove")
    assert answer["HX-Retarget"] == "#toasts"
    assert await in_db(comments.drafts, session.id) == []
    assert (await async_client.post(f"{url}/{row.id}/remove")).status_code == 404
    back = re.search(r'hx-post="([^"]+)" hx-vals="([^"]+)"', answer.content.decode())
    assert back is not None
    values = json.loads(html.unescape(back[2]))
    elsewhere = back[1].replace(session.id, other.id)
    assert (await async_client.post(elsewhere, values)).status_code == 404
    for _ in range(2):
        assert (await async_client.post(back[1], values)).status_code == 200
    (again,) = await in_db(comments.drafts, session.id)
    assert (again.text, again.actor, again.id) == ("Why <so>?", "ada", row.id)
    assert {name: getattr(again, name) for name in where} == where
