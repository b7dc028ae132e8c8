"""Sample agent, model and rules at the start of a provider turn (seed 002)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agents.catalog import default_ref, model_for
from agents.configuration import load
from agents.definitions import choose, default_name
from agents.llm.settings.variants import known_variant
from agents.runtime.run import Run
from agents.runtime.steps.rules import effective_rules
from agents.turn import Turn
from sessions.db import in_db
from sessions.models import AdmittedPrompt, Session
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage


@dataclass(frozen=True, slots=True)
class Choice:
    """Names as they were chosen: of an agent, of a model as `provider/model`, of a variant."""

    agent: str
    model: str
    variant: str = ""


async def next_choice(run: Run, waiting: AdmittedPrompt) -> Choice:
    """What a prompt that waits will be answered with, were it promoted now."""
    session = await in_db(session_store.get, run.session.id)
    config = (await asyncio.to_thread(load, run.directory)).config
    named = f"{waiting.provider_id}/{waiting.model_id}" if waiting.provider_id and waiting.model_id else ""
    agent = waiting.agent or (session.agent if session else "") or default_name(config)
    ref = named or await default_ref(run.directory, session, agent)
    kept = session is not None and ref == f"{session.provider_id}/{session.model_id}" and not named
    return Choice(agent, ref, waiting.variant or (session.variant if session and kept else ""))


async def choice_now(run: Run, prompt: UserMessage) -> Choice:
    """The prompt's own choice, unless another one was made for the session since its promotion."""
    session = await in_db(session_store.get, run.session.id)
    asked = Choice(
        prompt.agent, f"{prompt.model.provider_id}/{prompt.model.model_id}", prompt.model.variant or ""
    )
    if session is None or chosen_of(session) == run.chosen:
        return asked
    ref = f"{session.provider_id}/{session.model_id}" if session.provider_id and session.model_id else ""
    return Choice(session.agent or asked.agent, ref or asked.model, session.variant if ref else asked.variant)


def chosen_of(session: Session) -> tuple[str, ...]:
    """The choice that a session's row holds, to notice a change of it."""
    return session.agent, session.provider_id, session.model_id, session.variant


async def sample(run: Run, choice: Choice) -> Turn:
    """Raises UnknownAgent or UnknownModel."""
    loaded = await asyncio.to_thread(load, run.directory)
    unreadable = any(problem.level == "error" and not problem.key for problem in loaded.problems)
    agent = choose(loaded.config, choice.agent, unreadable=unreadable)
    model = await model_for(run.directory, choice.model)
    return Turn(
        session=run.session,
        directory=run.directory,
        worktree=run.worktree,
        config=loaded.config,
        agent=agent,
        model=model,
        rules=effective_rules(agent, model, run.session, loaded.config),
        variant=known_variant(model, choice.variant or agent.variant_for(model)),
    )
