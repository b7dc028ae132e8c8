"""How much a turn asks of the database: with one over a network each statement is a way there and back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from agents.agent.runtime import Runtime
from sessions.core import bus, fence
from sessions.core.db import in_db
from sessions.core.store import inbox
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
TURN = 44
"""Of a prompt that is answered by one delta, from the lease until the session is idle; a transaction counts
by its beginning."""
CALL = 32
"""More for each step that calls a tool, with what the first call of a turn and a tool's thread ask for."""


@asynccontextmanager
async def counted() -> AsyncIterator[list[str]]:
    """The statements under a lease meanwhile: a worker has other duties beside its turns."""
    said: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if fence.current() is not None:
            said.append(sql)
        return execute(sql, *more)

    await in_db(lambda: connection.execute_wrappers.insert(0, note))
    try:
        yield said
    finally:
        await in_db(lambda: connection.execute_wrappers.remove(note))


async def test_a_turn_and_a_step_ask_no_more_than_they_need(
    tmp_path: Path, answers: Callable[[OpenAIServer], None]
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    file = Path(talk.project.worktree) / "a.txt"
    file.write_text("a\n")
    script = [
        Turn(text=["One."]),
        Turn(text=["Two."]),
        Turn(tools=[ToolUse("read", {"filePath": str(file)})]),
        Turn(tools=[ToolUse("read", {"filePath": str(file), "limit": 1})]),
        Turn(text=["Three."]),
    ]
    runtime = Runtime()
    async with OpenAIServer(script) as model:
        answers(model)
        runtime.start()

        async def turn(text: str) -> int:
            async with bus.subscribe(wants=lambda event: event.type == "session.idle") as mailbox:
                async with counted() as statements:
                    await in_db(inbox.admit, talk.session, [{"type": "text", "text": text}])
                    runtime.wake(talk.session.id)
                    assert await mailbox.take(30)
                return len(statements)

        try:
            await turn("First.")
            alone = await turn("Second.")
            calling = await turn("Third.")
        finally:
            await runtime.stop()
    assert alone <= TURN
    assert (calling - alone) / 2 <= CALL
