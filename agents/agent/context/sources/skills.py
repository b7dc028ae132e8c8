"""The Context Source that tells an agent which skills there are.

Names and descriptions only: bodies and places come from the `skill` tool, which asks for permission.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agents.agent.context.source import Source
from agents.toolkit.remote_skills import remote_skills
from agents.toolkit.skills import discover, permitted
from agents.toolkit.turn import Turn

KEY = "core/skills"

Listing = tuple[tuple[str, str], ...]
"""(name, description) of each skill that the agent may use, by name."""


async def produce(turn: Turn) -> Sequence[Source[Any]]:
    """One source, whose listing depends on the agent of the turn."""

    async def load_listing() -> Listing | None:
        await remote_skills.fetch(turn.config.skills.urls)
        found = await asyncio.to_thread(discover, turn.directory, turn.config)
        return tuple((skill.name, skill.description) for skill in permitted(found, turn.rules)) or None

    return [Source(KEY, load_listing, _encode, _baseline, _update, _removal)]


def _encode(listing: Listing) -> list[list[str]]:
    return [list(entry) for entry in listing]


def _baseline(listing: Listing) -> str:
    return (
        "Skills are instructions for one kind of work each. When a task fits one of these, read it with the "
        f"`skill` tool before you begin:\n{_lines(listing)}"
    )


def _update(listing: Listing) -> str:
    return f"The skills you can read with the `skill` tool are now these, and no others:\n{_lines(listing)}"


def _removal(listing: Listing) -> str:
    return "There are no skills any more; do not call the `skill` tool."


def _lines(listing: Listing) -> str:
    return "\n".join(f"- {name}: {description}" for name, description in listing)
