"""Comments on a plan: where its lines are, sent with the others; and what is other in it than it was."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, FileChange, Session
from sessions.core.plans import plan_path, shown_path, version
from sessions.core.store import comments, ledger
from sessions.web.plan import plan_panel
from tests.sessions.changes.review.world import World

PLAN = "# Farewell\n\n1. Edit `hello.py`\n2. Run the tests\n"


async def planned(world: World, text: str = PLAN) -> tuple[Session, str]:
    """A session in a repository with a plan, and the address of it."""
    session = await world.session()
    session.project.vcs = "git"
    await in_db(session.project.save)
    path = plan_path(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return session, f"/p/{world.project.id}/s/{session.id}/plan"


async def test_a_comment_stands_beside_its_passage_and_is_sent(
    world: World, async_client: AsyncClient
) -> None:
    session, url = await planned(world)
    form = await async_client.get(f"{url}/comment?start=3&end=4&words=Run+the+<b>")
    assert "lines 3–4 of the plan" in form.content.decode()
    form = await async_client.get(f"{url}/comment?start=1&end=4&words=Run+the+tests")
    assert "line 4 of the plan" in form.content.decode()
    given = {"start": 4, "end": 4, "seen": version(PLAN), "text": " Which <tests>? "}
    assert (await async_client.post(f"{url}/comment", given)).status_code == 204
    (draft,) = await in_db(comments.drafts, session.id)
    assert (draft.path, draft.code, draft.text) == (
        shown_path(session),
        "2. Run the tests\n",
        "Which <tests>?",
    )
    plan_path(session).write_text(f"Before.\n\n{PLAN}")
    panel = await in_db(plan_panel, session)
    assert (
        panel.index('id="plan-6-notes"')
        < panel.index("Which &lt;tests&gt;?")
        < panel.index('id="plan-6-writing"')
    )
    sent = await async_client.post(f"/p/{world.project.id}/s/{session.id}/comments/send")
    assert sent.status_code == 204
    [prompt] = await in_db(lambda: list(AdmittedPrompt.objects.all()))
    text = prompt.parts[0]["text"]
    assert text.startswith("My comments on the plan:")
    assert f"{shown_path(session)}, line 6:\n```\n2. Run the tests\n```\nWhich <tests>?" in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": " "}, "Write something first."),
        ({"seen": "other"}, "It has been changed meanwhile; your text is still here."),
        ({"start": 90, "end": 91}, "It has been changed meanwhile; your text is still here."),
    ],
)
async def test_what_is_refused_says_why(
    world: World, async_client: AsyncClient, given: dict[str, Any], words: str
) -> None:
    session, url = await planned(world)
    rest = {"start": 1, "end": 1, "seen": version(PLAN), "text": "Why?"}
    answer = await async_client.post(f"{url}/comment", rest | given)
    assert (answer.status_code, words in answer.content.decode()) == (422, True)
    assert await in_db(comments.drafts, session.id) == []


async def test_what_changed_is_shown_passage_by_passage(world: World, async_client: AsyncClient) -> None:
    session, url = await planned(world, PLAN.replace("Run", "Write"))
    assert "No earlier version" in (await async_client.get(f"{url}/changes")).content.decode()
    objects = tracker(session.project).objects
    before, after = objects.put(PLAN.encode()), objects.put(b"x")
    change = FileChange(path=shown_path(session), before=before, after=after, message_id="msg_1")
    await in_db(ledger.add, session, [change])
    html = (await async_client.get(f"{url}/changes")).content.decode()
    kinds = [piece.split('"')[0] for piece in html.split('data-kind="')[1:]]
    assert kinds == ["same", "same", "old", "new"]
    assert "Run the tests" in html
    assert "Write the tests" in html
    html = (await async_client.get(f"{url}/changes", {"since": "none"})).content.decode()
    assert "Version" in html
