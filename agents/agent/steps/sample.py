"""Sample agent, model and rules at the start of a provider turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.agent.run import Run
from agents.config.configuration import load
from agents.config.schema import Config
from agents.llm.settings.variants import known_variant
from agents.llm.types import Model
from agents.toolkit.catalog import default_ref, model_for
from agents.toolkit.definitions import Agent, choose, default_name
from agents.toolkit.folders import Folders, folders_of
from agents.toolkit.permission.defaults import guarded
from agents.toolkit.permission.planning import plan_rules
from agents.toolkit.permission.rules import Floor, Rule, configured
from agents.toolkit.plans import PLAN
from agents.toolkit.sandbox.network import PERMISSION
from agents.toolkit.sandbox.terms import Terms, terms
from agents.toolkit.turn import Turn
from sessions.core.models import AdmittedPrompt, Session
from sessions.core.wire.messages import UserMessage


@dataclass(frozen=True, slots=True)
class Choice:
    """Names as they were chosen: of an agent, of a model as `provider/model`, of a variant."""

    agent: str
    model: str
    variant: str = ""


async def next_choice(run: Run, waiting: AdmittedPrompt) -> Choice:
    """What a prompt that waits will be answered with, were it promoted now."""
    session = run.seen
    named = f"{waiting.provider_id}/{waiting.model_id}" if waiting.provider_id and waiting.model_id else ""
    agent = waiting.agent or session.agent or await asyncio.to_thread(_default_agent, run.directory)
    ref = named or await default_ref(run.directory, session, agent)
    kept = ref == f"{session.provider_id}/{session.model_id}" and not named
    return Choice(agent, ref, waiting.variant or (session.variant if kept else ""))


def _default_agent(directory: Path) -> str:
    return default_name(load(directory).config)


def choice_now(run: Run, prompt: UserMessage) -> Choice:
    """The prompt's own choice, unless another one was made for the session since its promotion."""
    session = run.seen
    asked = Choice(
        prompt.agent, f"{prompt.model.provider_id}/{prompt.model.model_id}", prompt.model.variant or ""
    )
    if chosen_of(session) == run.chosen:
        return asked
    ref = f"{session.provider_id}/{session.model_id}" if session.provider_id and session.model_id else ""
    return Choice(session.agent or asked.agent, ref or asked.model, session.variant if ref else asked.variant)


def chosen_of(session: Session) -> tuple[str, ...]:
    """The choice that a session's row holds, to notice a change of it."""
    return session.agent, session.provider_id, session.model_id, session.variant


async def sample(run: Run, choice: Choice) -> Turn:
    """With the model in place of one that has failed in this turn. Raises UnknownAgent or UnknownModel."""
    while choice.model in run.instead:
        choice = Choice(choice.agent, run.instead[choice.model])
    return await turn_of(run.seen, choice, run.directory, run.worktree)


async def turn_of(session: Session, choice: Choice, directory: Path, worktree: Path) -> Turn:
    """Of a session, or of one that is not kept. Raises UnknownAgent or UnknownModel."""
    model = await model_for(directory, choice.model)

    def look() -> tuple[Working, Folders]:
        working = work(session, model, choice.agent, directory, worktree)
        return working, folders_of(session, working.config, directory, worktree)

    working, seen = await asyncio.to_thread(look)
    return Turn(
        session=session,
        directory=directory,
        worktree=worktree,
        config=working.config,
        agent=working.agent,
        model=model,
        rules=working.rules,
        terms=working.terms,
        folders=seen.every,
        variant=known_variant(model, choice.variant or working.agent.variant_for(model)),
    )


@dataclass(frozen=True, slots=True)
class Working:
    """Which agent works in a session now, by which configuration, rules and terms."""

    config: Config
    agent: Agent
    rules: Sequence[Rule]
    terms: Terms


def work(session: Session, model: Model | None, name: str, *folders: Path) -> Working:
    """`name` is the agent's, or empty for the default one; `folders` are that of the session, and the
    project's. Raises UnknownAgent. Blocks."""
    loaded = load(folders[0])
    config = loaded.config
    on = terms(loaded, name or default_name(config), session, model, folders)
    agent = choose(config, name, unreadable=loaded.unreadable, careful=on.careful)
    return Working(config, agent, effective_rules(agent, model, session, config), on)


DEMO = (Floor("edit", "*", "ask"), Floor("bash", "*", "ask"))
"""The scripted demo shows what asking looks like, whatever the defaults allow; what is denied stays so."""


def effective_rules(agent: Agent, model: Model | None, session: Session, config: Config) -> list[Rule]:
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in session.permission]
    demo = DEMO if model is not None and model.protocol == "scripted" else ()
    plans = Path(settings.PLAN_DIR)
    reachable = Rule("external_directory", f"{plans}/*", "allow")
    hosts = configured({PERMISSION: config.sandbox_domains}) if config.sandbox_domains else []
    return [*demo, *agent.permission, *hosts, reachable, *guarded(own), *_planning(agent, config, plans)]


def _planning(agent: Agent, config: Config, plans: Path) -> list[Rule]:
    """Plan mode's, and after them what the user allows to the plan agent by name."""
    if agent.name != PLAN:
        return []
    named = config.agent.get(PLAN)
    return [*plan_rules(plans), *guarded(configured(named.permission if named and named.permission else {}))]
