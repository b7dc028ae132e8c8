"""Which messages and which changes belong to a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opencode_web.bridge.call import Call

Json = dict[str, Any]


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
    for message in messages:
        if message["info"]["role"] == "user" and (message["info"].get("summary") or {}).get("diffs") != []:
            query = {"messageID": message["info"]["id"]}
            found += await call.request("GET", f"/session/{session_id}/diff", query=query)
    return found
