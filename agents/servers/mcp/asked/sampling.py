"""A server asks the session's model something (MCP, client/sampling), where the user has allowed that server
to: `"sampling": true` in its configuration. Each time a permission is asked for, unless a rule names it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.llm.counted import words_of
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, ModelError, ModelRequest
from agents.servers.mcp.texts import clean
from agents.toolkit.base import ToolContext
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.permission.rules import Floor
from agents.toolkit.turn import Turn
from sessions.core.wire.patterns import EVERYTHING, is_everything, matches

PERMISSION = "mcp_sampling"
MAX_OUTPUT = 4_096
"""Tokens of an answer, whatever the server wants."""
MAX_ASKED = 100_000
"""Characters that a server may put to the model."""
_REASONS = {"length": "maxTokens", "stop": "endTurn"}


class Refused(Exception):
    """The server is not answered; the text says why."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a server puts to the model; `size` is in characters, `text` what the person is shown of it."""

    system: str
    messages: Sequence[ChatMessage]
    max_output: int
    temperature: float | None
    stop: Sequence[str]
    text: str
    size: int


@dataclass(frozen=True, slots=True)
class Sampled:
    text: str
    model: str
    reason: str


async def sampled(ctx: ToolContext, server: str, asked: Asked) -> Sampled:
    """On the turn's loop. Raises Refused."""
    if asked.size > MAX_ASKED:
        raise Refused(f"{asked.size:,} characters are asked; up to {MAX_ASKED:,} are taken.")
    model = ctx.turn.model
    if model.protocol == "scripted":
        raise Refused("The session has no model that could be asked.")
    await _permit(ctx, server, asked)
    request = ModelRequest(
        model=model,
        system=[asked.system] if asked.system else [],
        messages=asked.messages,
        controls=Controls(
            max_output=max(1, min(asked.max_output, MAX_OUTPUT)),
            temperature=asked.temperature,
            stop=list(asked.stop) or None,
        ),
    )
    try:
        text, reason = await words_of(ctx.session_id, request)
    except ModelError as error:
        raise Refused(f"The model could not be asked: {error.message}") from error
    return Sampled(clean(text), model.ref, _REASONS.get(reason, reason) or "endTurn")


async def _permit(ctx: ToolContext, server: str, asked: Asked) -> None:
    """That everything is allowed does not say that a server may use the model on the user's account."""
    if not _is_named(ctx.turn):
        ctx.turn = replace(ctx.turn, rules=[*ctx.turn.rules, Floor(PERMISSION, EVERYTHING, "ask")])
    metadata = {"server": server, "model": ctx.turn.model.ref, "prompt": clean(asked.text)}
    try:
        await ctx.ask(PERMISSION, [server], always=[server], metadata=metadata)
    except NotPermitted as refusal:
        raise Refused("The user does not allow it.") from refusal


def _is_named(turn: Turn) -> bool:
    return any(
        matches(rule.permission, PERMISSION) and not is_everything(rule.permission) for rule in turn.rules
    )
