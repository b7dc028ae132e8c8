"""Prompts: asked and waited for, or sent off."""

from __future__ import annotations

from pydantic import Field

from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.messages import counts, todos, turn
from opencode_web.bridge.operations.shapes import prompt
from opencode_web.bridge.tool import ACTS, Tool
from opencode_web.bridge.watch import SECONDS, Outcome, at_session, raise_failure, run_turn, unfinished
from opencode_web.bridge.workflows.arguments import MaybeSession, OfSession, Prompt
from opencode_web.bridge.workflows.sessions import changes_of, last_turn, of_prompt

ASK_SECONDS = 300.0


class Ask(Prompt):
    title: str | None = Field(None, description="What the new session is called.")
    seconds: float = Field(ASK_SECONDS, gt=0, description="How long to wait for the answer.")


class Reply(Prompt, OfSession):
    seconds: float = Field(ASK_SECONDS, gt=0, description="How long to wait for the answer.")


class Run(Prompt, MaybeSession):
    seconds: float = Field(SECONDS, gt=0, description="How long to wait for the end of the task.")


class Fire(Prompt, MaybeSession):
    pass


async def ask(call: Call, given: Ask) -> str:
    session_id = await _created(call, given.title)
    return await _prompt(await at_session(call, session_id), session_id, given, given.seconds)


async def reply(call: Call, given: Reply) -> str:
    return await _prompt(await at_session(call, given.sessionID), given.sessionID, given, given.seconds)


async def run(call: Call, given: Run) -> str:
    """Like ask and reply, with what was changed and what is left to do."""
    session_id = given.sessionID or await _created(call, given.title)
    here = await at_session(call, session_id)
    text = await _prompt(here, session_id, given, given.seconds)
    history = await here.get(f"/session/{session_id}/message")
    pieces = [text, f"Changed: {counts(await changes_of(here, session_id, last_turn(history)))}"]
    if left := await here.get(f"/session/{session_id}/todo"):
        pieces.append(f"Todo:\n{todos(left)}")
    return "\n\n".join(pieces)


async def fire(call: Call, given: Fire) -> str:
    session_id = given.sessionID or await _created(call, given.title)
    here = await at_session(call, session_id)
    await here.post(f"/session/{session_id}/prompt_async", await prompt(here, given.given))
    return (
        f"Session {session_id} has taken the prompt. Look with opencode_check, wait with opencode_wait, "
        "read with opencode_conversation."
    )


async def _created(call: Call, title: str | None) -> str:
    session = await call.post("/session", {"title": title} if title else {})
    return str(session["id"])


async def _prompt(call: Call, session_id: str, given: Prompt, seconds: float) -> str:
    path = f"/session/{session_id}/message"
    outcome = await run_turn(call, session_id, "POST", path, await prompt(call, given.given), seconds)
    return await _report(call, session_id, outcome)


async def _report(call: Call, session_id: str, outcome: Outcome) -> str:
    if not outcome.ended:
        return unfinished(session_id, outcome)
    history = await call.get(f"/session/{session_id}/message")
    messages = of_prompt(history, outcome.answer["info"].get("parentID", "")) or [outcome.answer]
    text = f"{turn(messages)}\n\n(session {session_id})"
    raise_failure(outcome.answer, text)
    return text


TURNS = (
    Tool(
        "opencode_ask",
        "Ask",
        "workflow",
        "Ask the agent something in a new session and wait for the answer. The quickest way to use it.",
        Ask,
        ACTS,
        ask,
    ),
    Tool(
        "opencode_reply",
        "Reply",
        "workflow",
        "Say more in a session and wait for the answer.",
        Reply,
        ACTS,
        reply,
    ),
    Tool(
        "opencode_run",
        "Run a task",
        "workflow",
        "Give the agent a task, wait for its end, and hear what it did, changed and left.",
        Run,
        ACTS,
        run,
    ),
    Tool(
        "opencode_fire",
        "Start a task",
        "workflow",
        "Give the agent a task and do not wait; opencode_check and opencode_wait follow it.",
        Fire,
        ACTS,
        fire,
    ),
)
