"""A server asks the person something in the middle of a call: it becomes a question of that call (MCP,
client/elicitation)."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from agents.servers.mcp.texts import clean
from agents.toolkit.base import Option, Question, ToolContext
from agents.toolkit.permission.errors import QuestionRejected

# The fields that a server asks the person to fill in, as questions of ours (MCP, client/elicitation). Pure.
#
# What a server may ask for is flat: texts, numbers, yes or no, and choices.

MOST_FIELDS = 20
MOST_OPTIONS = 100
MOST_HEADER = 60
LEAVE_OUT = "Leave this out"
SUGGESTED = "What the server suggests"

Value = str | int | float | bool | list[str]

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


class BadForm(ValueError):
    """No person can be asked this; the text says why."""


class BadAnswer(ValueError):
    """This does not fit the field; the text is for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Field:
    """`schema` is its description; `choices` are (label, value) pairs, none for a field that is written."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    choices: Sequence[tuple[str, str | bool]]

    @property
    def multiple(self) -> bool:
        return self.schema.get("type") == "array"

    @property
    def title(self) -> str:
        return clean(str(self.schema.get("title") or self.name), MOST_HEADER)

    def question(self, intro: str, problem: str = "") -> Question:
        """`intro` stands before it, and what was wrong with the answer given before."""
        about = [intro, clean(str(self.schema.get("description") or ""), 1000), self._limits(), problem]
        return Question(
            question="\n\n".join(text for text in about if text) or self.title,
            header=self.title,
            options=self._options(),
            multiple=self.multiple,
            custom=not self.choices,
        )

    def value(self, answer: Sequence[str]) -> Value | None:
        """What was answered, as the server wants it; None where it is left out. Raises BadAnswer."""
        if self.multiple:
            known = {label: str(value) for label, value in self.choices}
            return self._counted([known[label] for label in answer if label in known])
        text = answer[0].strip() if answer else ""
        if not text or text == LEAVE_OUT:
            if self.required:
                raise BadAnswer("This needs an answer.")
            return None
        if self.choices:
            return dict(self.choices).get(text)
        return self._number(text) if self.schema.get("type") in ("number", "integer") else self._text(text)

    def _options(self) -> list[Option]:
        suggested = self.schema.get("default")
        wanted = suggested if isinstance(suggested, list) else [suggested]
        options = [Option(label, SUGGESTED if value in wanted else "") for label, value in self.choices]
        if not self.choices and suggested is not None:
            options.append(Option(clean(str(suggested), 200), SUGGESTED))
        if not self.required and not self.multiple:
            options.append(Option(LEAVE_OUT))
        return options

    def _limits(self) -> str:
        """What is asked of an answer, in words."""
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        kind = {"integer": "A whole number", "number": "A number"}.get(str(self.schema.get("type")), "")
        if kind:
            bounds = [
                f"at least {clean(str(low), 40)}" if low is not None else "",
                f"at most {clean(str(high), 40)}" if high is not None else "",
            ]
            return ", ".join(text for text in (kind, *bounds) if text) + "."
        words = {"email": "An email address.", "uri": "An address (URL).", "date": "A date, as 2026-01-31."}
        return words.get(str(self.schema.get("format")), "")

    def _number(self, text: str) -> int | float:
        whole = self.schema.get("type") == "integer"
        try:
            number = int(text) if whole else float(text)
        except ValueError as error:
            raise BadAnswer(f"{text[:100]!r} is no {'whole ' if whole else ''}number.") from error
        low, high = self.schema.get("minimum", -math.inf), self.schema.get("maximum", math.inf)
        if not math.isfinite(number) or not low <= number <= high:
            raise BadAnswer(f"{text[:100]} is not between {low} and {high}.")
        return number

    def _text(self, text: str) -> str:
        low, high = self.schema.get("minLength", 0), self.schema.get("maxLength", math.inf)
        if not low <= len(text) <= high:
            raise BadAnswer(f"This has {len(text)} characters; it may have {low} to {high}.")
        if not _fits(text, str(self.schema.get("format", ""))):
            raise BadAnswer(f"This does not look right. {self._limits()}")
        return text

    def _counted(self, chosen: list[str]) -> list[str] | None:
        low, high = (
            self.schema.get("minItems", 1 if self.required else 0),
            self.schema.get("maxItems", math.inf),
        )
        if not chosen and not self.required:
            return None
        if not low <= len(chosen) <= high:
            raise BadAnswer(f"{len(chosen)} are chosen; choose {low} to {high}.")
        return chosen


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Raises BadForm."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or len(properties) > MOST_FIELDS:
        raise BadForm(f"a form has up to {MOST_FIELDS} fields")
    required = schema.get("required") or ()
    return [_field(str(name), data, name in required) for name, data in properties.items()]


def _field(name: str, data: Any, required: bool) -> Field:
    if not isinstance(data, Mapping):
        raise BadForm(f"the field {name!r} is not described")
    kind = data.get("type")
    choices: list[tuple[str, str | bool]] = []
    if kind == "boolean":
        choices = [("Yes", True), ("No", False)]
    elif kind == "array":
        choices = _choices(data.get("items") or {})
    elif kind == "string":
        choices = _choices(data)
    elif kind not in ("number", "integer"):
        raise BadForm(f"the field {name!r} is of an unknown type")
    if len(choices) > MOST_OPTIONS or (kind == "array" and not choices):
        raise BadForm(f"the field {name!r} offers {len(choices)} choices")
    return Field(name, data, required, choices)


def _choices(data: Mapping[str, Any]) -> list[tuple[str, str | bool]]:
    """Of an enumeration with titles or without; labels that stand twice are told apart by their values."""
    titled = data.get("oneOf") or data.get("anyOf")
    if titled:
        pairs = [(str(one.get("title") or one["const"]), str(one["const"])) for one in titled]
    else:
        values = [str(value) for value in data.get("enum") or ()]
        names = data.get("enumNames") or values
        pairs = list(zip(map(str, names), values, strict=False))
    labels = [label for label, _ in pairs]
    return [
        (clean(label if labels.count(label) == 1 else f"{label} ({value})", 200), value)
        for label, value in pairs
    ]


def _fits(text: str, format: str) -> bool:
    try:
        match format:
            case "email":
                return bool(_EMAIL.fullmatch(text))
            case "uri":
                return bool(urlsplit(text).scheme)
            case "date":
                date.fromisoformat(text)
            case "date-time":
                datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


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
