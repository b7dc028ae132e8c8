"""What a model counted, as it is kept."""

from __future__ import annotations

from agents.llm.types import Usage
from sessions.core.wire.base import Tokens


def tokens_of(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input,
        output=usage.output,
        reasoning=usage.reasoning,
        cache=Tokens.Cache(read=usage.cache_read, write=usage.cache_write),
        total=usage.total,
    )
