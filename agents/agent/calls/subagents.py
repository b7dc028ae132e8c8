"""A subagent works in a child session of its own: own history, own lease, own stop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from agents.agent.calls import limits
from agents.agent.run import Run
from agents.toolkit.base import Errand, Report, ToolContext, ToolError
from agents.toolkit.definitions import Agent, choose
from agents.toolkit.permission.limit import LIMIT
from agents.toolkit.permission.planning import marks
from agents.toolkit.permission.rules import Rule, Ruleset, evaluate, in_effect
from agents.tools.task import subagents
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session
from sessions.core.store import children, family, inbox
from sessions.core.store import sessions as session_store
from sessions.core.wire.patterns import EVERYTHING, is_everything, matches
from sessions.core.wire.session import SessionModel


class Stopped(ToolError):
    """The subagent was stopped, and not the session that waits for it."""


ELSEWHERE_SECONDS = 1.0
"""How often it is looked whether a child that another worker took up is done."""
STILL_AT_WORK = "The errand {} is still being worked on; go on with it afterwards."


async def delegate(run: Run, context: ToolContext, errand: Errand) -> Report:
    """Raises ToolError for whatever keeps the subagent from its answer, and NotPermitted."""
    agent = _agent(context, errand)
    named = await in_db(children.named_by_user, run.session.id, context.message_id, agent.name)
    await _permit(context, errand, named)
    line = await in_db(family.line, run.session.id)
    await limits.check_depth(context, len(line) - 1)
    model = _model(context, agent, named or {})
    rules = _rules(context, agent)
    async with limits.at_work(run, context, line[0]):
        new = _resumed(run, errand, rules) if errand.task_id else _new(run, errand, agent, model, rules)
        return await _work(run, context, await new, agent, model, errand)


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


def _rules(context: ToolContext, agent: Agent) -> list[Rule]:
    """For the session of a subagent."""
    turn = context.turn
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in turn.session.permission]
    return inherited(agent.permission, turn.rules, own)


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
        raise ToolError(STILL_AT_WORK.format(errand.task_id))
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
        taken = await in_db(
            children.take_on,
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
    if not taken:
        raise ToolError(STILL_AT_WORK.format(child.id))


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


# What the card of an errand shows while a subagent works: the call's metadata, made of its events.

MOST_LISTED = 20
"""Calls in the wire's `summary`; `calls` counts all."""
MOST_WORDS = 120
_FOLLOWED = frozenset(
    {
        "message.part.updated",
        "permission.asked",
        "permission.replied",
        "question.asked",
        "question.replied",
        "question.rejected",
    }
)


class Progress:
    """`known` is what stays the same: ids and model, as OpenCode's clients read them."""

    def __init__(self, context: ToolContext, known: Mapping[str, Any]) -> None:
        self._context = context
        self._known = known
        self._calls: dict[str, dict[str, Any]] = {}
        self._asking: set[str] = set()
        self._tokens = 0

    @staticmethod
    def wants(event: bus.Event) -> bool:
        return event.type in _FOLLOWED

    def metadata(self) -> dict[str, Any]:
        return {
            **self._known,
            "calls": len(self._calls),
            "tokens": self._tokens,
            "waiting": bool(self._asking) or any(call["waiting"] for call in self._calls.values()),
            "summary": [
                {key: call[key] for key in ("id", "tool", "state")}
                for call in list(self._calls.values())[-MOST_LISTED:]
            ],
        }

    async def follow(self, mailbox: bus.Subscription) -> None:
        """Until cancelled; one that falls behind shows what it had."""
        while not mailbox.overflowed:
            for event in await mailbox.take():
                self._note(event)
            await self._context.update(metadata=self.metadata())

    async def rest(self, mailbox: bus.Subscription) -> None:
        """The child is done: what has not been looked at yet."""
        for event in await mailbox.take(0):
            self._note(event)
        await self._context.update(metadata=self.metadata())

    def _note(self, event: bus.Event) -> None:
        properties = event.properties
        if event.type == "message.part.updated":
            self._note_part(properties["part"])
        elif event.type.endswith(".asked"):
            self._asking.add(properties["id"])
        else:
            self._asking.discard(properties["requestID"])

    def _note_part(self, part: Mapping[str, Any]) -> None:
        if part["type"] == "step-finish":
            tokens = part["tokens"]
            cache = tokens.get("cache") or {}
            self._tokens += tokens["input"] + tokens["output"] + tokens["reasoning"] + sum(cache.values())
        elif part["type"] == "tool":
            state = part["state"]
            running = state["status"] in ("pending", "running")
            self._calls[part["id"]] = {
                "id": part["id"],
                "tool": part["tool"],
                "state": {"status": state["status"], "title": _title(state)},
                "waiting": running and bool((state.get("metadata") or {}).get("waiting")),
            }


def _title(state: Mapping[str, Any]) -> str:
    """What the call is about: the title its tool gave it, else the first words of its input."""
    given = (state.get("input") or {}).values()
    words = state.get("title") or next((value for value in given if isinstance(value, str)), "")
    return str(words).strip().partition("\n")[0][:MOST_WORDS]


# The rules of a subagent's session: never more than the subagent itself and those above it may do. Pure.
#
# They are kept with the session, and so come after the subagent's own rules.

TASK: Final = "task"
_OWN: Final = ("question", "plan_enter", "plan_exit")
"""What the subagent's own rules decide, whatever the session above it may do."""
_NEVER: Final = ("todowrite", "todoread")
_ALWAYS_LOOKED_AT: Final = ("edit", "bash")
_APART: Final = frozenset({*_OWN, *_NEVER, TASK, "doom_loop", LIMIT})


def inherited(agent: Ruleset, turn: Ruleset, session: Ruleset) -> list[Rule]:
    """What a child session's own rules are. `agent` are the subagent's, `turn` those in force in the turn
    that sends it, `session` those kept with the session above. Todos belong to that session; `task` stays
    only where the subagent's rules name it. A shell line that plan mode asks about is asked about here
    too."""
    kept = [rule for rule in session if rule.action != "allow" or not _lifts(rule, agent)]
    so_far = [*agent, *kept]
    kept += [
        rule for rule in _denied(turn) if evaluate(rule.permission, rule.pattern, so_far).action != "deny"
    ]
    kept += marks(turn)
    closed = [name for name in _OWN if evaluate(name, EVERYTHING, agent).action == "deny"]
    closed += _NEVER
    if not any(rule.permission == TASK and rule.action != "deny" for rule in agent):
        closed.append(TASK)
    return list(dict.fromkeys([*kept, *(Rule(name, EVERYTHING, "deny") for name in closed)]))


def _lifts(allow: Rule, agent: Ruleset) -> bool:
    """Whether a rule of the session above could open what the subagent's rules close."""
    return any(
        rule.action == "deny"
        and rule.permission not in _APART
        and (matches(rule.permission, allow.permission) or matches(allow.permission, rule.permission))
        for rule in agent
    )


def _denied(rules: Ruleset) -> Iterator[Rule]:
    """What these rules deny in effect, permission by permission."""
    named = [
        rule.permission for rule in rules if rule.action == "deny" and not is_everything(rule.permission)
    ]
    for name in dict.fromkeys([*_ALWAYS_LOOKED_AT, *named]):
        if name in _APART:
            continue
        denials = in_effect(name, "deny", rules)
        everything = [EVERYTHING] if evaluate(name, EVERYTHING, rules).action == "deny" else []
        yield from (Rule(name, pattern, "deny") for pattern in dict.fromkeys([*everything, *denials]))
