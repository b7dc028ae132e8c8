"""What several sources of the person's verdicts have in common: notes, one an operation that stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.agent.context.source import Source
from sessions.core.db import in_db

Notes = tuple[tuple[str, str], ...]
"""(id of the operation, what the model is told of it), oldest first."""


def source(
    key: str,
    standing: Callable[[str], Notes | None],
    session_id: str,
    told: Callable[[str], str],
    removal: str,
) -> Source[Any]:
    """`standing` reads the notes of a session, on the ORM's thread; `told` renders them, given as lines."""

    async def load() -> Notes | None:
        return await in_db(standing, session_id)

    def render(notes: Notes) -> str:
        return told("\n".join(text for _, text in notes))

    return Source(key, load, _encode, render, render, lambda notes: removal)


def _encode(notes: Notes) -> list[list[str]]:
    return [list(note) for note in notes]
