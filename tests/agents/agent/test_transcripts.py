"""What was read for one turn of a session is there for the next, unless somebody else has written into it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from agents.agent.runtime import Runtime
from agents.agent.steps.history import MOST_ENTRIES, Entry, Transcript, Transcripts
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Part
from sessions.core.store import inbox, messages
from sessions.core.store.rows import part_info
from sessions.core.wire.parts import TextPart
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, Turn
from tests.sessions.talk import Talk

Ask = Callable[[str], Awaitable[tuple[list[str], list[str]]]]
"""A turn: what the model was sent as texts, and after which messages the history was read."""


@pytest.fixture
async def talk(tmp_path: Path) -> Talk:
    return await Talk.begin(tmp_path / "project")


@pytest.fixture
async def ask(talk: Talk, answers: Callable[[OpenAIServer], None]) -> AsyncIterator[Ask]:
    bodies: list[Body] = []
    read: list[str] = []

    def answer(body: Body) -> Turn:
        bodies.append(body)
        return Turn(text=[f"Answer {len(bodies)}."])

    def note(execute: Callable[..., Any], sql: str, params: Any, *more: Any) -> Any:
        if 'FROM "opencode_sessions_message"' in sql and '"id" > %s' in sql and '"role" AS' in sql:
            read.append(params[0])
        return execute(sql, params, *more)

    async def turn(text: str) -> tuple[list[str], list[str]]:
        read.clear()
        async with bus.subscribe(wants=lambda event: event.type == "session.idle") as mailbox:
            await in_db(inbox.admit, talk.session, [{"type": "text", "text": text}])
            runtime.wake(talk.session.id)
            assert await mailbox.take(30)
        sent = [str(message["content"]) for message in bodies[-1]["messages"] if message["role"] != "system"]
        return sent, list(read)

    runtime = Runtime()
    async with OpenAIServer(answer) as model:
        answers(model)
        await in_db(lambda: connection.execute_wrappers.append(note))
        runtime.start()
        try:
            yield turn
        finally:
            await runtime.stop()
            await in_db(lambda: connection.execute_wrappers.remove(note))


@pytest.mark.django_db(transaction=True)
async def test_the_next_turn_reads_what_is_new(ask: Ask) -> None:
    await ask("First.")
    sent, read = await ask("Second.")
    assert sent == ["First.", "Answer 1.", "Second."]
    assert read
    assert all(after.startswith("msg_") for after in read), read


@pytest.mark.django_db(transaction=True)
async def test_what_somebody_else_changed_is_seen(ask: Ask, talk: Talk) -> None:
    await ask("First.")

    def edit() -> None:
        part = part_info(Part.objects.get(session_id=talk.session.id, data__text="Answer 1."))
        assert isinstance(part, TextPart)
        part.text = "Another answer."
        assert messages.change_part(part)

    await in_db(edit)
    sent, _ = await ask("Second.")
    assert sent == ["First.", "Another answer.", "Second."]
    sent, read = await ask("Third.")
    assert sent == ["First.", "Another answer.", "Second.", "Answer 2.", "Third."]
    assert all(after.startswith("msg_") for after in read), read


def test_no_more_are_kept_than_there_is_room_for() -> None:
    kept = Transcripts()
    sizes = {"a": MOST_ENTRIES // 2, "b": MOST_ENTRIES // 2, "c": 1, "d": MOST_ENTRIES + 1}
    made = {name: Transcript(name) for name in sizes}
    for name, size in sizes.items():
        made[name]._entries = [Entry()] * size
    for name in "abc":
        kept.keep(name, 7, made[name])
    assert kept.take("a", 7) is not made["a"], "the oldest has made room"
    assert kept.take("b", 8) is not made["b"], "something was written since"
    assert kept.take("c", 7) is made["c"]
    assert kept.take("c", 7) is not made["c"], "it is in use"
    kept.keep("c", 8, made["c"])
    kept.keep("d", 1, made["d"])
    assert kept.take("c", 8) is not made["c"], "a long one has made the others go"
    assert kept.take("d", 1) is made["d"], "the newest stays, however long it is"
