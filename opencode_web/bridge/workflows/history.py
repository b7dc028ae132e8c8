"""Which messages and which changes belong to a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from opencode_web.bridge.call import Call

Json = dict[str, Any]

WRITERS = frozenset({"write", "edit", "multiedit", "apply_patch", "patch"})
TRIES, PAUSE_SECONDS = 10, 0.3
"""OpenCode sums up the changes of a prompt only after its session is idle."""


def of_prompt(history: Sequence[Json], message_id: str) -> list[Json]:
    """The assistant's messages that answer a user's message."""
    return [one for one in history if one["info"].get("parentID") == message_id]


def last_turn(history: Sequence[Json]) -> list[Json]:
    """The last user's message and all after it."""
    users = [index for index, one in enumerate(history) if one["info"]["role"] == "user"]
    return list(history[users[-1] :]) if users else list(history)


async def changes_of(call: Call, session_id: str, messages: Sequence[Json]) -> list[Json]:
    """The changes that the prompts among these messages led to.

    Asked for by message: without one OpenCode answers with an empty list.
    """
    found: list[Json] = []
    path = f"/session/{session_id}/diff"
    for message in messages:
        wrote = _has_written(of_prompt(messages, message["info"]["id"]))
        known = (message["info"].get("summary") or {}).get("diffs") != []
        if message["info"]["role"] == "user" and (wrote or known):
            query = {"messageID": message["info"]["id"]}
            diffs = await call.request("GET", path, query=query)
            for _ in range(TRIES if wrote else 0):
                if diffs:
                    break
                await asyncio.sleep(PAUSE_SECONDS)
                diffs = await call.request("GET", path, query=query)
            found += diffs
    return found


def _has_written(messages: Sequence[Json]) -> bool:
    calls = (part for one in messages for part in one["parts"] if part["type"] == "tool")
    return any(call["tool"] in WRITERS and call["state"]["status"] == "completed" for call in calls)
