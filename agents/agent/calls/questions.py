"""Ask the user and wait for the answers without holding a thread (the `question` tool)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agents.agent.calls.completion import undisturbed
from agents.toolkit.base import Question
from agents.toolkit.permission.errors import QuestionRejected
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.models import QuestionRequest
from sessions.core.store import questions as store
from sessions.core.wire.parts import ToolPart
from sessions.core.wire.questions import QuestionInfo, QuestionOption

_waiting: dict[str, asyncio.Event] = {}


def answered(request_id: str) -> None:
    """The row has its answers now."""
    if request_id in _waiting:
        _waiting[request_id].set()


def look_again() -> None:
    """Read every row that is waited for: the message of an answer may have been lost."""
    for event in _waiting.values():
        event.set()


async def ask(turn: Turn, part: ToolPart, questions: Sequence[Question]) -> list[list[str]]:
    """The answers in the order of the questions; raises QuestionRejected. Waits as long as it takes.
    Cancelling this withdraws the questions."""
    row = await in_db(
        store.ask,
        turn.session,
        [_info(question) for question in questions],
        message_id=part.message_id,
        call_id=part.call_id,
        tool=part.tool,
    )
    try:
        settled = await _settled(row.id)
    except asyncio.CancelledError:
        await undisturbed(in_db(store.withdraw, row.id))
        raise
    if settled is None or settled.state != "answered":
        raise QuestionRejected
    return [list(answer) for answer in settled.answers]


async def _settled(request_id: str) -> QuestionRequest | None:
    """The request once it is no longer pending; the row is read again in case the hint came too early."""
    event = _waiting[request_id] = asyncio.Event()
    try:
        while True:
            row = await in_db(store.get, request_id)
            if row is None or row.state != "pending":
                return row
            await event.wait()
            event.clear()
    finally:
        del _waiting[request_id]


def _info(question: Question) -> QuestionInfo:
    options = [
        QuestionOption(label=option.label, description=option.description) for option in question.options
    ]
    return QuestionInfo(
        question=question.question,
        header=question.header,
        options=options,
        multiple=question.multiple,
        custom=question.custom,
    )
