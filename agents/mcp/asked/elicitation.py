"""A server asks the person something in the middle of a call: it becomes a question of that call (MCP,
client/elicitation)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from agents.mcp.asked.forms import BadAnswer, BadForm, Field, Value, fields_of
from agents.mcp.offered.texts import clean
from agents.permission.errors import QuestionRejected
from agents.tools.base import Option, Question, ToolContext

MAX_MESSAGE = 2000
MAX_URL = 2000
OPENED = "I opened it and did what it asks"
DECLINE = "Decline"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """`decline`: the person said no. `cancel`: nobody was asked, or the turn ended first."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Value] | None = None


CANCELLED = Answer("cancel")


async def fill_in(ctx: ToolContext, server: str, message: str, schema: Mapping[str, Any]) -> Answer:
    """Ask for the fields of a form, and again for those whose answer does not fit. On the turn's loop."""
    try:
        fields = fields_of(schema)
    except (BadForm, AttributeError, KeyError, TypeError) as error:
        logger.warning("MCP server %s asks for a form that cannot be shown: %s", server, error)
        return CANCELLED
    intro = _intro(server, message)
    if not fields:
        return await _confirmed(ctx, intro)
    content: dict[str, Value] = {}
    problems = dict.fromkeys((field.name for field in fields), "")
    while problems:
        asked = [field for field in fields if field.name in problems]
        questions = [
            field.question("" if number else intro, problems[field.name])
            for number, field in enumerate(asked)
        ]
        try:
            answers = await ctx.question(questions)
        except QuestionRejected:
            return _refused(ctx)
        problems = {}
        for field, answer in zip(asked, answers, strict=True):
            _take(field, answer, content, problems)
    return Answer("accept", content)


async def visit(ctx: ToolContext, server: str, message: str, url: str) -> Answer:
    """Ask the person to open an address, for what must not pass through here (a password, a payment). On the
    turn's loop."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > MAX_URL:
        logger.warning("MCP server %s asks to open what is no web address", server)
        return CANCELLED
    text = f"{_intro(server, message)}\n\nIt asks you to open this page at {parts.hostname}:\n{clean(url)}"
    return await _chosen(ctx, Question(text, "Open a page", [Option(OPENED), Option(DECLINE)], custom=False))


async def _confirmed(ctx: ToolContext, intro: str) -> Answer:
    """A form without fields asks for a yes."""
    answer = await _chosen(ctx, Question(intro, "Go on?", [Option("Yes"), Option(DECLINE)], custom=False))
    return Answer("accept", {}) if answer.action == "accept" else answer


async def _chosen(ctx: ToolContext, question: Question) -> Answer:
    try:
        answers = await ctx.question([question])
    except QuestionRejected:
        return _refused(ctx)
    return Answer("decline" if answers[0] == [DECLINE] else "accept")


def _take(field: Field, answer: list[str], content: dict[str, Value], problems: dict[str, str]) -> None:
    try:
        value = field.value(answer)
    except BadAnswer as problem:
        problems[field.name] = str(problem)
    else:
        if value is not None:
            content[field.name] = value


def _refused(ctx: ToolContext) -> Answer:
    """Dismissed by the person, or because the turn was stopped."""
    return CANCELLED if ctx.abort.is_set() else Answer("decline")


def _intro(server: str, message: str) -> str:
    return f"The MCP server {clean(server, 100)} asks: {clean(message, MAX_MESSAGE)}"
