"""A permission asked for from outside (`POST /api/session/{id}/permission`), decided as for a call."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.agent.calls.approvals import Question, by_rules
from agents.agent.steps.sample import work
from agents.config.configuration import load
from agents.llm.providers import UnknownModel
from agents.toolkit.catalog import default_ref, model_for
from agents.toolkit.definitions import UnknownAgent, choose
from sessions.api.v2.requests import AskPermission
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session
from sessions.core.store import permissions
from sessions.core.wire.v2.requests import Effect


async def judge(session: Session, asked: AskPermission) -> tuple[Effect, str]:
    """What the rules of the agent say, with a request for a person where they say so, and its id. An agent or
    a model that there is not may do nothing."""
    request_id = asked.id or ascending("per")
    try:
        question = await _question(session, asked)
    except (UnknownAgent, UnknownModel):
        return "deny", request_id
    verdict = await in_db(by_rules, question)
    if verdict.action == "ask":
        await in_db(
            permissions.ask,
            session,
            id=request_id,
            message_id=question.message_id,
            call_id=question.call_id,
            agent=question.agent,
            permission=question.permission,
            patterns=question.patterns,
            always=question.always,
            metadata={**question.metadata, "rule": permissions.in_words(verdict.rules)},
            arguments_hash=question.hash,
        )
    return verdict.action, request_id


async def _question(session: Session, asked: AskPermission) -> Question:
    """Raises UnknownAgent or UnknownModel."""
    directory = Path(session.directory)
    config = (await asyncio.to_thread(load, directory)).config
    name = choose(config, asked.agent or session.agent).name
    model = await model_for(directory, await default_ref(directory, session, name))
    worktree = Path(session.project.worktree)
    working = await asyncio.to_thread(work, session, model, name, directory, worktree)
    return Question(
        session=session,
        message_id=asked.source.message_id if asked.source else "",
        call_id=asked.source.call_id if asked.source else "",
        agent=name,
        rules=working.rules,
        permission=asked.action,
        patterns=asked.resources,
        always=asked.save,
        metadata=asked.metadata,
    )
