"""The meter beside the prompt: what was spent by a session and below it, and a window that was exceeded."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sessions as session_store
from sessions.core.store import usage
from sessions.core.wire.base import Tokens
from sessions.rendering.meter import meter
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def talked(folder: Path) -> tuple[Talk, str]:
    """A session whose last answer counted 1,500 tokens; the id of that answer."""
    talk = await Talk.begin(folder)
    tokens = {"input": 1_400, "output": 100, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return talk, await talk.answer(await talk.prompt(), tokens=tokens)


async def shown(talk: Talk) -> str:
    session = await in_db(session_store.get, talk.session.id)
    assert session is not None
    return " ".join((await in_db(meter, session)).split())


async def test_what_subagents_spent_stands_beside_ones_own(tmp_path: Path) -> None:
    talk, _ = await talked(tmp_path / "project")
    assert "list prices" not in await shown(talk)
    await in_db(usage.spent, talk.session.id, Tokens(), 0.5)
    alone = await shown(talk)
    assert "<dt>Spent in this session</dt><dd>$0.50</dd>" in alone
    assert "Dollars are an estimate at list prices" in alone
    assert "subagents" not in alone

    async def child(parent: Session, dollars: float) -> Session:
        made = await in_db(session_store.create, talk.project, talk.session.directory, parent=parent.id)
        await in_db(usage.spent, made.id, Tokens(), dollars)
        return made

    await child(await child(talk.session, 1.25), 0.75)
    below = await shown(talk)
    assert "<dt>Spent in this session</dt><dd>$0.50</dd>" in below
    assert "<dt>With its subagents</dt><dd>$2.50</dd>" in below


async def test_a_window_that_was_exceeded_is_said_in_words(tmp_path: Path) -> None:
    talk, answer = await talked(tmp_path / "project")
    for window, words in ((2_000, False), (1_000, True)):
        filling = {"window": window, "used": 1_500, "messages": 1_500, "message": answer}
        await in_db(session_store.update, talk.session.id, window=filling)
        assert ("took more than the window" in await shown(talk)) == words
