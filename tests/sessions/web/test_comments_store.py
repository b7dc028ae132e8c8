"""Comments in the rows: drafts, sent with a prompt, drafts again when that prompt is no more."""

from __future__ import annotations

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
