"""Name a session from its first prompt with the small model, beside the first step (seed 004 §2.2)."""

from __future__ import annotations

import logging

from agents.catalog import small_model
from agents.configuration import load
from agents.definitions import known_agents
from agents.llm import stream
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, ModelError, ModelRequest, TextContent, TextDelta
from agents.runtime.run import Run
from sessions.db import in_db
from sessions.store import messages
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage

logger = logging.getLogger(__name__)

MAX_PROMPT = 4_000
MAX_TITLE = 100


async def give_title(run: Run, prompt: UserMessage) -> None:
    """Set the title unless the session has one; a model that fails leaves the prompt's first line."""
    session = await in_db(session_store.get, run.session.id)
    if session is None or session.titled or session.parent_id:
        return
    row = await in_db(messages.message, run.session.id, prompt.id)
    said = "\n".join(part.get("text", "") for part in (row or {}).get("parts", []) if part["type"] == "text")
    title = await _ask(run, prompt, said[:MAX_PROMPT]) or _first_line(said)
    if title:
        await in_db(session_store.rename, run.session.id, title[:MAX_TITLE])


async def _ask(run: Run, prompt: UserMessage, said: str) -> str:
    model = await small_model(run.directory, f"{prompt.model.provider_id}/{prompt.model.model_id}")
    if model is None or model.protocol == "scripted" or not said.strip():
        return ""
    agent = known_agents(load(run.directory).config).get("title")
    if agent is None:
        return ""
    request = ModelRequest(
        model=model,
        system=[agent.prompt],
        messages=[ChatMessage("user", [TextContent(f"Name the conversation that begins so:\n\n{said}")])],
        controls=Controls(temperature=agent.temperature, max_output=1_000),
    )
    try:
        pieces = [event.text async for event in stream(request) if isinstance(event, TextDelta)]
    except ModelError as error:
        logger.info("no title from %s: %s", model.ref, error.message)
        return ""
    return _first_line("".join(pieces).partition("</think>")[2] or "".join(pieces)).strip("\"'`")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
