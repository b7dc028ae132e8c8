"""Instructions for the session, as one ordered aggregate: a change of any gives the complete set again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from agents.agent.context.source import Source, Unavailable
from agents.agent.context.sources import discovery
from agents.agent.context.sources.files import Document
from agents.agent.context.sources.remote import remote
from agents.toolkit.turn import Turn

Documents = tuple[Document, ...]

SUPERSEDED = (
    "The instructions have changed. This is the complete set that applies from here on; it takes the place "
    "of all instruction files given before."
)
REMOVED = "The instruction files given before no longer apply, and there are none in their place."


async def produce(turn: Turn) -> Sequence[Source[Documents]]:
    return [
        Source(
            "core/instructions",
            load=partial(_load, turn),
            encode=lambda documents: [[one.origin, one.digest] for one in documents],
            baseline=_rendered,
            update=lambda documents: f"{SUPERSEDED}\n\n{_rendered(documents)}",
            removal=lambda _: REMOVED,
        )
    ]


async def _load(turn: Turn) -> Documents | Unavailable | None:
    """Every document once, in order; None without any. What does not answer makes the whole unavailable."""
    addresses = [entry for entry in turn.config.instructions if _is_address(entry)]
    answers = await asyncio.gather(*(remote.document(url) for url in addresses))
    for answer in answers:
        if isinstance(answer, Unavailable):
            return answer
    fetched = {one.origin: one for one in answers if isinstance(one, Document)}
    found = await asyncio.to_thread(_all, turn, fetched)
    return tuple({one.origin: one for one in found}.values()) or None


def _all(turn: Turn, fetched: dict[str, Document]) -> list[Document]:
    found = discovery.ambient(turn.directory, turn.worktree)
    for entry in turn.config.instructions:
        if not _is_address(entry):
            found += discovery.named(entry, turn.directory, turn.worktree)
        elif entry in fetched:
            found.append(fetched[entry])
    return found


def _is_address(entry: str) -> bool:
    return entry.startswith(("http://", "https://"))


def _rendered(documents: Documents) -> str:
    return "\n\n".join(f"Instructions from: {one.origin}\n{one.text}" for one in documents)
