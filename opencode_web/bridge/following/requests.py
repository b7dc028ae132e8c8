"""Permission and question requests of a session and of the subagents it has sent."""

from __future__ import annotations

import asyncio
from typing import Any

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.sessions import permission_line, question_line

Json = dict[str, Any]


async def family(call: Call, session_id: str) -> set[str]:
    """The session and all that came of it."""
    children = await call.get(f"/session/{session_id}/children")
    below = await asyncio.gather(*(family(call, child["id"]) for child in children))
    return {session_id}.union(*below)


async def pending(call: Call, sessions: set[str] | None = None) -> list[str]:
    """A line for each request that waits, of these sessions or of all."""
    permissions, questions = await asyncio.gather(call.get("/permission"), call.get("/question"))
    return [
        line(request)
        for line, requests in ((permission_line, permissions), (question_line, questions))
        for request in requests
        if sessions is None or request["sessionID"] in sessions
    ]
