"""A subagent works in a child session of its own: own history, own lease, own stop (seed 004 §2.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agents.definitions import Agent, choose
from agents.permission.inherited import inherited
from agents.permission.rules import Rule, evaluate
from agents.runtime.calls.progress import Progress
from agents.runtime.run import Run
from agents.tools.base import Errand, Report, ToolContext, ToolError
from agents.tools.task import subagents
from sessions import bus
from sessions.db import in_db
from sessions.ids import ascending
from sessions.models import Session
from sessions.store import children, inbox
from sessions.store import sessions as session_store
from sessions.wire.session import SessionModel


class Stopped(ToolError):
    """The subagent was stopped, and not the session that waits for it."""


ELSEWHERE_SECONDS = 1.0
"""How often it is looked whether a child that another worker took up is done."""


async def delegate(run: Run, context: ToolContext, errand: Errand) -> Report:
    """Raises ToolError for whatever keeps the subagent from its answer, and NotPermitted."""
    agent = _agent(context, errand)
    above = await in_db(children.depth, run.session.id)
    if above >= (limit := context.turn.config.subagent_depth):
        raise ToolError(
            f"Subagents may be sent {limit} deep here (subagent_depth), and this session is there already. "
            "Do it yourself."
        )
    named = await in_db(children.named_by_user, run.session.id, context.message_id, agent.name)
    await _permit(context, errand, named)
    model = _model(context, agent, named or {})
    rules = _rules(context, agent, above + 1)
    child = await (_resumed(run, errand, rules) if errand.task_id else _new(run, errand, agent, model, rules))
    return await _work(run, context, child, agent, model, errand)


def _agent(context: ToolContext, errand: Errand) -> Agent:
    known = subagents(context.turn.config)
    if errand.agent not in known:
        raise ToolError(f"There is no subagent {errand.agent!r}. There are: {', '.join(known) or 'none'}.")
    return choose(context.turn.config, errand.agent)


async def _permit(context: ToolContext, errand: Errand, named: Mapping[str, Any] | None) -> None:
    """Who named the subagent in the prompt is not asked about it; a rule that denies it holds."""
    rule = evaluate("task", errand.agent, context.turn.rules)
    if named is None or rule.action == "deny":
        metadata = {"description": errand.description, "subagent_type": errand.agent, "prompt": errand.prompt}
        await context.ask("task", [errand.agent], always=[errand.agent], metadata=metadata)


def _model(context: ToolContext, agent: Agent, named: Mapping[str, Any]) -> SessionModel:
    """The prompt's own for this errand, the subagent's own, or that of the turn."""
    if given := named.get("model"):
        return SessionModel(id=given["modelID"], provider_id=given["providerID"])
    if agent.model:
        provider_id, _, model_id = agent.model.partition("/")
        return SessionModel(id=model_id, provider_id=provider_id)
    model = context.turn.model
    return SessionModel(
        id=model.model_id, provider_id=model.provider_id, variant=context.turn.variant or None
    )


def _rules(context: ToolContext, agent: Agent, depth: int) -> list[Rule]:
    """For the session of a subagent that has `depth` sessions above it."""
    turn = context.turn
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in turn.session.permission]
    return inherited(agent.permission, turn.rules, own, may_delegate=depth < turn.config.subagent_depth)


async def _new(run: Run, errand: Errand, agent: Agent, model: SessionModel, rules: Sequence[Rule]) -> Session:
    return await in_db(
        session_store.create,
        run.session.project,
        run.session.directory,
        title=f"{errand.description} (@{agent.name} subagent)",
        parent=run.session.id,
        permission=[asdict(rule) for rule in rules],
        agent=agent.name,
        model=model,
    )


async def _resumed(run: Run, errand: Errand, rules: Sequence[Rule]) -> Session:
    """With the rules of now: the session above may be in another mode than when it was begun."""
    child = await in_db(session_store.get, errand.task_id)
    if child is None or child.parent_id != run.session.id:
        raise ToolError(
            f"There is no errand {errand.task_id!r} of this session. Leave out task_id for a new one."
        )
    if await in_db(children.is_busy, child.id):
        raise ToolError(f"The errand {errand.task_id} is still being worked on; go on with it afterwards.")
    await in_db(session_store.update, child.id, permission=[asdict(rule) for rule in rules])
    return child


async def _work(
    run: Run, context: ToolContext, child: Session, agent: Agent, model: SessionModel, errand: Errand
) -> Report:
    prompt_id = ascending("msg")
    progress = Progress(
        context,
        {
            "sessionId": child.id,
            "parentSessionId": run.session.id,
            "promptId": prompt_id,
            "agent": agent.name,
            "model": {"providerID": model.provider_id, "modelID": model.id},
        },
    )
    async with bus.subscribe(session=child.id, wants=progress.wants) as mailbox:
        following = run.spawn(progress.follow(mailbox))
        try:
            await context.update(title=errand.description, metadata=progress.metadata())
            await _admit(child, prompt_id, errand, agent, model)
            await _until_done(run, child.id, prompt_id)
        except asyncio.CancelledError:
            await asyncio.shield(_stop(run, child.id, prompt_id))
            raise
        finally:
            following.cancel()
        await progress.rest(mailbox)
    try:
        return Report(child.id, await _outcome(child.id, prompt_id), progress.metadata())
    except Stopped:
        await context.update(metadata={"stopped": True})
        raise


async def _admit(child: Session, prompt_id: str, errand: Errand, agent: Agent, model: SessionModel) -> None:
    """After the card has the prompt's id: a call that a crash cuts off takes back what was not begun."""
    try:
        await in_db(
            inbox.admit,
            child,
            [{"type": "text", "text": errand.prompt}],
            message_id=prompt_id,
            agent=agent.name,
            provider_id=model.provider_id,
            model_id=model.id,
            variant=model.variant or "",
        )
    except inbox.PromptRefused as error:
        raise ToolError(str(error)) from error


async def _until_done(run: Run, child_id: str, prompt_id: str) -> None:
    """Usually the child is drained here; another worker may have been quicker."""
    await run.children.run(child_id)
    while not await in_db(children.is_done, child_id, prompt_id):
        await asyncio.sleep(ELSEWHERE_SECONDS)
        await run.children.run(child_id)


async def _stop(run: Run, child_id: str, prompt_id: str) -> None:
    """Return when the child is settled and its processes are gone."""
    await in_db(inbox.withdraw, child_id, prompt_id)
    run.children.stop(child_id)
    await run.children.run(child_id)


async def _outcome(child_id: str, prompt_id: str) -> str:
    """What the subagent said last. Raises ToolError when it did not come to an end of its own."""
    if await in_db(session_store.get, child_id) is None:
        raise ToolError("The session of the subagent was deleted before it was done; its result is lost.")
    answer = await in_db(children.last_answer, child_id, prompt_id)
    if answer is None:
        raise Stopped("The subagent was stopped before it began.")
    again = f"task_id {child_id} goes on with it."
    if error := answer.get("error"):
        if error["name"] == "MessageAbortedError":
            raise Stopped(f"The subagent was stopped before it was done. {again}")
        raise ToolError(f"The subagent failed: {(error.get('data') or {}).get('message', '')} {again}")
    failure = await in_db(children.last_failure, answer["id"])
    if failure and answer.get("finish") == "tool-calls":
        raise ToolError(f"The subagent broke off: {failure} {again}")
    return await in_db(children.last_text, child_id, prompt_id) or "The subagent ended without a word."
