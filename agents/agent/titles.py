"""Name a session from its first prompt with the small model, beside the first step."""

from __future__ import annotations

import asyncio
import logging

from agents.agent.run import Run
from agents.agent.steps.request import base_prompt, settings_of
from agents.agent.steps.sample import Choice, sample
from agents.config.configuration import load
from agents.llm.counted import words_of
from agents.llm.providers import UnknownModel
from agents.llm.settings.domains import Controls, Settings
from agents.llm.types import ChatMessage, ModelError, ModelRequest, TextContent
from agents.plugins.hooks import listening, trigger
from agents.toolkit.catalog import small_model
from agents.toolkit.definitions import UnknownAgent, choose
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.store import messages
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import UserMessage

logger = logging.getLogger(__name__)

MAX_PROMPT = 4_000
MAX_TITLE = 100
MAX_OUTPUT = 1_000
"""Tokens of the answer where the agent's options do not say: some models think first."""


async def give_title(run: Run, prompt: UserMessage) -> None:
    """Set the title unless the session has one; a model that fails leaves the prompt's first line."""
    if run.seen.titled or run.seen.parent_id:
        return
    row = await in_db(messages.message, run.session.id, prompt.id)
    texts = (part for part in (row or {}).get("parts", []) if part["type"] == "text")
    said = "\n".join(part.get("text", "") for part in texts if not part.get("synthetic"))
    title = await _ask(run, prompt, said[:MAX_PROMPT]) or _first_line(said)
    if title:
        await in_db(session_store.rename, run.session.id, title[:MAX_TITLE])


async def _ask(run: Run, prompt: UserMessage, said: str) -> str:
    turn = await _sampled(run, prompt) if said.strip() else None
    if turn is None or turn.model.protocol == "scripted":
        return ""
    settings = Settings(Controls(max_output=MAX_OUTPUT)).under(settings_of(turn))
    request = ModelRequest(
        model=turn.model,
        system=[base_prompt(turn)],
        messages=[ChatMessage("user", [TextContent(f"Name the conversation that begins so:\n\n{said}")])],
        controls=settings.controls,
        options=settings.options,
        body=settings.body,
    )
    try:
        text, _ = await words_of(run.session.id, request)
    except ModelError as error:
        logger.info("no title from %s: %s", turn.model.ref, error.message)
        return ""
    return _first_line(text.partition("</think>")[2] or text).strip("\"'`")


async def _sampled(run: Run, prompt: UserMessage) -> Turn | None:
    """The agent with its own model, or else the small one beside the prompt's; None without one."""
    try:
        agent = choose((await asyncio.to_thread(load, run.directory)).config, "title")
        small = f"{prompt.model.provider_id}/{prompt.model.model_id}"
        ref = agent.model or await _small(run, small)
        return await sample(run, Choice(agent.name, ref)) if ref else None
    except (UnknownAgent, UnknownModel) as error:
        logger.info("no title: %s", error)
        return None


async def _small(run: Run, ref: str) -> str | None:
    """The configured one, or a plugin's, or the small one beside `ref`."""
    hook, provider_id = "experimental.provider.small_model", ref.partition("/")[0]
    configured = (await asyncio.to_thread(load, run.directory)).config.small_model
    if not configured and await listening(run.session, hook):
        asked = {"sessionID": run.session.id, "provider": {"id": provider_id}}
        if chosen := (await trigger(run.session, hook, asked, {"model": None}))["model"]:
            return f"{chosen['providerID']}/{chosen['id']}"
    model = await small_model(run.directory, ref)
    return model.ref if model else None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
