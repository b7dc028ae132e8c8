"""A tour of a change: a model that was chosen puts the hunks of a scope into stops, each with its words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import get_language, get_language_info, gettext
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent import drafts
from agents.llm.providers import UnknownModel
from agents.llm.types import Model, ModelError
from agents.toolkit.catalog import default_ref, model_for, small_model
from agents.toolkit.definitions import prompt_text
from sessions.changes.diffs.hunks import Hunk
from sessions.changes.review.comparing import compare
from sessions.changes.review.tours import Part, parts_of
from sessions.changes.review.verdicts import Listing, Scope, listing
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.core.db import in_db
from sessions.core.models import Session, Tour
from sessions.core.models.ledger import shown
from sessions.core.store import tours

SECONDS = 300.0
MOST_HUNKS = 400
"""What comes after them is in no stop."""
MOST_SHOWN = 120_000
"""Characters of all hunks; where they have more, each gets its share of it."""
LEAST_SHOWN = 240
MOST_STOPS = 40
MAX_OUTPUT = 16_000
"""Tokens: some models think first."""
_SIGNS = {"add": "+", "del": "-", "context": " "}
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class NoTour(ValueError):
    """It could not be made; the text is for the person."""


class _Stop(BaseModel):
    model_config = ConfigDict(extra="ignore")

    title: str = Field(min_length=1, max_length=400)
    text: str = Field(default="", max_length=4_000)
    hunks: list[int | str]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    stops: list[Any]


async def make(session: Session, scope: Scope, ref: str = "", actor: str = "") -> Tour:
    """By the model `ref` (`provider/model`; empty: the small one); the session pays. Raises NoTour."""
    found = await listing(session, scope)
    parts = await asyncio.to_thread(parts_of, found)
    if not parts:
        raise NoTour(gettext("There is no change to be told of."))
    told = await asyncio.to_thread(_told, parts[:MOST_HUNKS], found)
    try:
        async with asyncio.timeout(SECONDS):
            model = await _model(session, ref)
            system = prompt_text("tour").format(language=_language())
            answer = await drafts.written(model, session, system, told, most=MAX_OUTPUT)
    except TimeoutError as error:
        raise NoTour(gettext("The model took too long.")) from error
    except (UnknownModel, ModelError) as error:
        raise NoTour(gettext("The model did not answer: %(why)s") % {"why": str(error)}) from error
    stops = read(answer, [part.mark for part in parts[:MOST_HUNKS]])
    if not stops:
        raise NoTour(gettext("The model gave no tour that can be read. Try another one."))
    marks = [part.mark for part in parts]
    by = f"{model.provider_id}/{model.model_id}"
    return await in_db(tours.put, session, scope.query(), stops, marks, model=by, actor=actor)


async def _model(session: Session, ref: str) -> Model:
    """Raises UnknownModel, NoTour."""
    directory = Path(session.directory)
    if ref:
        return await model_for(directory, ref)
    model = await small_model(directory, await default_ref(directory, session))
    if model is None or model.protocol == "scripted":
        raise NoTour(gettext("There is no model to make it: connect a provider first."))
    return model


def _language() -> str:
    """Its name, of the page from which it was asked for."""
    return str(get_language_info(get_language() or "en")["name"])


def read(answer: str, marks: Sequence[str]) -> list[dict[str, Any]]:
    """The stops of an answer, whose hunks are numbers of marks, from 1. A number that is none, or was named
    before, is dropped, and so is a stop without any; none where nothing can be read."""
    found = _OBJECT.search(answer)
    try:
        given = _Answer.model_validate_json(found[0] if found else "").stops
    except ValidationError:
        return []
    named: set[int] = set()
    stops: list[dict[str, Any]] = []
    for one in given[:MOST_STOPS]:
        try:
            stop = _Stop.model_validate(one)
        except ValidationError:
            continue
        numbers = list(dict.fromkeys(n for n in _numbers(stop.hunks, len(marks)) if n not in named))
        named.update(numbers)
        if numbers:
            title, text = (" ".join(words.split()) for words in (stop.title, stop.text))
            stops.append({"title": title, "text": text, "hunks": [marks[n - 1] for n in numbers]})
    return stops


def _numbers(given: Sequence[int | str], most: int) -> Iterator[int]:
    for one in given:
        number = int(one) if isinstance(one, int) or (one.isdecimal() and len(one) < 6) else 0
        if 1 <= number <= most:
            yield number


def _told(parts: Sequence[Part], found: Listing) -> str:
    """The numbered hunks, one after the other. Blocks."""
    texts = [_text(part, found) for part in parts]
    room = MOST_SHOWN
    shares: dict[int, int] = {}
    for left, number in enumerate(sorted(range(len(texts)), key=lambda n: len(texts[n]))):
        shares[number] = min(len(texts[number]), max(room // (len(texts) - left), LEAST_SHOWN))
        room -= shares[number]
    return "\n".join(
        f"[{number}] {_name(part)}\n{_cut(text, shares[number - 1])}"
        for number, (part, text) in enumerate(zip(parts, texts, strict=True), 1)
    )


def _name(part: Part) -> str:
    file = part.file
    was = f" (renamed from {shown(file.renamed_from)})" if file.renamed_from else ""
    return f"{shown(file.path)}, {file.status}{was}"


def _text(part: Part, found: Listing) -> str:
    change = part.step.change
    if change.skipped:
        return f"({change.skipped})\n"
    try:
        compared = compare(change, found.roots.of(part.file.path).objects)
    except ObjectMissing:
        return "(Its content is not at hand.)\n"
    whole = "" in part.step.hunks
    hunks = [hunk for hunk in compared.diff.hunks if whole or part.step.hunks[hunk.key] is part.judged]
    if not hunks:
        return "(A binary file, or one that is too large to be compared.)\n"
    return "".join(_lines(hunk) for hunk in hunks)


def _lines(hunk: Hunk) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
    size = 0
    lines = [head]
    for row in hunk.rows:
        lines.append(f"{_SIGNS[row.kind]}{row.text}\n")
        size += len(row.text)
        if size > MOST_SHOWN:
            break
    return "".join(lines)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n(The rest of it is left out.)\n"
