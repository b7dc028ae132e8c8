"""Answer a request for a compaction: a summary takes the place of what was said, and a new epoch begins.

Source: seed 004 §4.2, stages 2 and 3; seed 002 (a completed compaction starts a new Context Epoch). Until the
summary is complete, which is one transaction, nothing changes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from agents.compaction import estimate, tail
from agents.compaction.budget import budget
from agents.compaction.entries import Entry, id_of, role_of
from agents.compaction.overflow import used
from agents.compaction.writing import Written, write
from agents.definitions import UnknownAgent, choose
from agents.llm.providers import UnknownModel
from agents.llm.types import ModelError
from agents.runtime.run import Run
from agents.runtime.steps.history import request_messages
from agents.runtime.steps.recorder import Recorder
from agents.runtime.steps.sample import Choice, choice_now, sample
from agents.runtime.steps.trouble import failed
from agents.turn import Turn
from sessions.db import in_db
from sessions.store import compaction
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage
from sessions.wire.parts import CompactionPart

GO_ON = (
    "The conversation was summed up to make room. If there are next steps, take them now; if you are not "
    "sure how to go on, ask."
)
ANSWER = (
    "The conversation before the last request was summed up to make room. That request has not been answered "
    "yet: answer it now."
)


async def compact(run: Run, prompt: UserMessage, asked: CompactionPart) -> bool:
    """Have the conversation before `prompt` summed up. Whether the session goes on by itself."""
    try:
        turn, writer = await _sampled(run, prompt)
    except (UnknownAgent, UnknownModel) as error:
        await failed(run, await Recorder.open(run, prompt), error)
        return False
    entries = [entry for entry in await run.transcript.refresh() if id_of(entry) < prompt.id]
    plan = tail.plan(entries, turn)
    recorder = await Recorder.open(run, prompt, writer, summary=True)
    try:
        await recorder.started()
        written = await write(run, recorder, writer, plan.summed_up)
    except ModelError as error:
        await failed(run, recorder, error)
        return False
    except BaseException:  # stopped: what was said before is still in force
        await recorder.fold()
        raise
    filling = await _filling(turn, plan, written) | {"message": recorder.message.id}
    before = used(entries, turn.model) or _tokens([*plan.summed_up, *plan.kept], turn)
    asked.tail_start_id = plan.tail_start_id
    asked.metadata = {"messages": plan.count, "before": before, "after": filling["used"]}
    follow_up = _follow_up(prompt, plan) if asked.auto else None
    finish = partial(compaction.finish, asked=asked, filling=filling, follow_up=follow_up)
    await recorder.finished(written.finish, writer.model, finish)
    run.transcript.forget()
    return asked.auto


async def _sampled(run: Run, prompt: UserMessage) -> tuple[Turn, Turn]:
    """The conversation's turn, and that of the agent that sums it up. Raises UnknownAgent or UnknownModel."""
    choice = await choice_now(run, prompt)
    turn = await sample(run, choice)
    agent = choose(turn.config, "compaction")
    return turn, await sample(run, Choice(agent.name, agent.model or choice.model, agent.variant))


def _tokens(entries: list[Entry], turn: Turn) -> int:
    return estimate.messages_tokens(request_messages(entries, turn.model))


async def _filling(turn: Turn, plan: tail.Plan, written: Written) -> dict[str, Any]:
    """What the window will hold: of the last step what every request begins with, and what is left to say."""
    session = await in_db(session_store.get, turn.session.id)
    last = session.window if session else {}
    said = estimate.tokens(estimate.size(written.text)) + _tokens(list(plan.kept), turn)
    kinds = {kind: int(last.get(kind, 0)) for kind in ("system", "instructions", "tools")}
    kinds |= {"messages": said, "outputs": 0}
    return {**kinds, "used": sum(kinds.values()), **budget(turn.model, turn.config.compaction).limits()}


def _follow_up(prompt: UserMessage, plan: tail.Plan) -> dict[str, Any]:
    """What the session goes on with: the request that waits for its answer, or the next steps. It is done as
    the last request asked for (agent, model, system text, tools)."""
    requests = [entry for entry in [*plan.summed_up, *plan.kept] if role_of(entry) == "user"]
    last = requests[-1]["info"] if requests else {}
    text = ANSWER if plan.unanswered else GO_ON
    return {
        "parts": [{"type": "text", "text": text, "synthetic": True, "metadata": {compaction.GOES_ON: True}}],
        "agent": prompt.agent,
        "provider_id": prompt.model.provider_id,
        "model_id": prompt.model.model_id,
        "variant": prompt.model.variant or "",
        "system": last.get("system") or "",
        "tools": last.get("tools"),
    }
