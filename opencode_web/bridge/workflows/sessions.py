"""What a session is doing, has said and has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.messages import (
    conversation,
    counts,
    patches,
    session,
    session_line,
    todos,
    turn,
)
from opencode_web.bridge.formatting.plain import one_line
from opencode_web.bridge.tool import READS, Arguments, Tool
from opencode_web.bridge.watch import SECONDS, Outcome, Watch, at_session, family, pending, unfinished
from opencode_web.bridge.workflows.arguments import OfPrompt, OfSession

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


Json = dict[str, Any]
LAST_CHARACTERS = 500


class Conversation(OfSession):
    limit: int = Field(50, gt=0, description="Only the newest so many messages.")


class Changes(OfPrompt):
    patch: bool = Field(True, description="Whether to show the patches, too.")


class Wait(OfSession):
    seconds: float = Field(SECONDS, gt=0, description="How long to wait at most.")


class Overview(Arguments):
    limit: int = Field(20, gt=0, description="At most so many.")
    search: str | None = Field(None, description="What the title has in it.")


async def check(call: Call, given: OfSession) -> str:
    here = await at_session(call, given.sessionID)
    path = f"/session/{given.sessionID}"
    about, states, left, history, sessions = await asyncio.gather(
        here.get(path),
        here.get("/session/status"),
        here.get(f"{path}/todo"),
        here.get(f"{path}/message", limit=20),
        family(here, given.sessionID),
    )
    waiting = await pending(here, sessions)
    state = "waiting for an answer" if waiting else _state(states, given.sessionID)
    last = one_line(turn(last_turn(history)), LAST_CHARACTERS) if history else "nothing yet"
    pieces = [session(about), f"state: {state}", *waiting, f"last answer: {last}"]
    return "\n".join([*pieces, *([todos(left)] if left else [])])


async def read(call: Call, given: Conversation) -> str:
    path = f"/session/{given.sessionID}/message"
    return conversation(await call.get(path, limit=given.limit))


async def overview(call: Call, given: Overview) -> str:
    found, states, waiting = await asyncio.gather(
        call.get("/session", limit=given.limit, search=given.search),
        call.get("/session/status"),
        pending(call),
    )
    lines = [f"- {session_line(one)} · {_state(states, one['id'])}" for one in found]
    return "\n".join([*(lines or ["No sessions."]), *(f"! {line}" for line in waiting)])


async def review(call: Call, given: Changes) -> str:
    here = await at_session(call, given.sessionID)
    if given.messageID:
        diffs = await here.get(f"/session/{given.sessionID}/diff", messageID=given.messageID)
    else:
        history = await here.get(f"/session/{given.sessionID}/message")
        diffs = await changes_of(here, given.sessionID, history)
    return patches(diffs) if given.patch else counts(diffs)


async def wait(call: Call, given: Wait) -> str:
    here = await at_session(call, given.sessionID)
    try:
        async with asyncio.timeout(given.seconds):
            waiting = await Watch(here, given.sessionID).settled()
    except TimeoutError:
        return unfinished(given.sessionID, Outcome(False))
    if waiting:
        return unfinished(given.sessionID, Outcome(False, waiting=waiting))
    history: Sequence[Json] = await here.get(f"/session/{given.sessionID}/message")
    return f"{turn(last_turn(history)[1:])}\n\n(session {given.sessionID} is idle)"


def _state(states: dict[str, Json], session_id: str) -> str:
    state = states.get(session_id, {"type": "idle"})
    more = f", attempt {state['attempt']}: {state['message']}" if state["type"] == "retry" else ""
    return str(state["type"]) + more


SESSIONS = (
    Tool(
        "opencode_check",
        "Check a session",
        "workflow",
        "Say in a few lines what a session is doing, without waiting.",
        OfSession,
        READS,
        check,
    ),
    Tool(
        "opencode_conversation",
        "Read a conversation",
        "workflow",
        "Show the history of a session as text.",
        Conversation,
        READS,
        read,
    ),
    Tool(
        "opencode_sessions_overview",
        "Sessions",
        "workflow",
        "List sessions with their states, and what waits for an answer.",
        Overview,
        READS,
        overview,
    ),
    Tool(
        "opencode_review_changes",
        "Review changes",
        "workflow",
        "Show what a session has changed, file by file.",
        Changes,
        READS,
        review,
    ),
    Tool(
        "opencode_wait",
        "Wait for a session",
        "workflow",
        "Wait until a session is idle or needs an answer, and show the last answer.",
        Wait,
        READS,
        wait,
    ),
)
