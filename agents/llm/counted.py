"""What a model counted, and how it is kept."""

from __future__ import annotations

from contextlib import aclosing

from agents.llm import stream
from agents.llm.types import Finish, Model, ModelError, ModelRequest, TextDelta, Usage
from sessions.core.db import in_db
from sessions.core.store import usage as store
from sessions.core.wire.base import Tokens


def tokens_of(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        reasoning=usage.reasoning,
        cache=Tokens.Cache(read=usage.cache_read, write=usage.cache_write),
        total=usage.total,
    )


async def spend(session_id: str, model: Model, usage: Usage) -> None:
    """Add to a session's sums what a request used that became no step of it."""
    if usage.total:
        await in_db(store.spent, session_id, tokens_of(usage), usage.cost(model.price))


async def words_of(session_id: str, request: ModelRequest) -> tuple[str, str]:
    """The text that answers a request which is no step of the session, counted there, and why it ended.
    Raises ModelError."""
    pieces: list[str] = []
    reason = ""
    try:
        async with aclosing(stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    pieces.append(event.text)
                elif isinstance(event, Finish):
                    reason = event.reason
                    await spend(session_id, request.model, event.usage)
    except ModelError as error:
        await spend(session_id, request.model, error.usage)
        raise
    return "".join(pieces), reason
