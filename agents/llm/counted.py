"""What a model counted, and how it is kept."""

from __future__ import annotations

from agents.llm.types import Model, Usage
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
