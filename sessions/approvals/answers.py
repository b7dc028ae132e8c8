"""What the form of a request says, read into an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, QueryDict

from sessions.models import PermissionRequest
from sessions.store.permissions import SCOPES

from .proposals import Picks, Proposal, replacement, whole_proposals

MOST_WORDS = 4000
MOST_MINUTES = 7 * 24 * 60
_ANSWERS = ("once", "always", "reject")


class NoAnswer(ValueError):
    """The form says nothing that could be done; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Given:
    """Positional and named arguments of `sessions.actions.reply`, after the id of the request."""

    answer: str
    words: str
    how: dict[str, Any]


def given(request: HttpRequest, row: PermissionRequest, actor: str) -> Given:
    """Blocks (contents are compared): call it in a thread. Raises NoAnswer, NothingLeft."""
    form = request.POST
    answer = form.get("answer", "")
    if answer not in _ANSWERS or (answer == "always" and not row.always):
        raise NoAnswer("This is no answer to the question.")
    if not form.get("hash") and row.arguments_hash:
        raise NoAnswer("The answer does not say what it is about. Load the page again.")
    how: dict[str, Any] = {"hash": form.get("hash", ""), "actor": actor}
    if answer == "reject":
        return Given(answer, form.get("words", "").strip()[:MOST_WORDS], how)
    if answer == "always":
        how |= _reach(form)
    files = whole_proposals(row)
    if files:
        how["replacement"] = replacement(files, *changed(form, files))
    return Given(answer, "", how)


def changed(form: QueryDict, files: Sequence[Proposal]) -> tuple[Picks, dict[int, str]]:
    """The hunks that stay chosen and the texts that were typed, by the number of the file."""
    offered = {int(number) for number in form.getlist("offered") if number.isdecimal()}
    chosen = [value.partition(":") for value in form.getlist("hunk")]
    picks = {number: [key for owner, _, key in chosen if owner == str(number)] for number in offered}
    typed = {file.number: form.get(f"content{file.number}") for file in files}
    return picks, {number: text for number, text in typed.items() if text is not None}


def _reach(form: QueryDict) -> dict[str, Any]:
    """How far an allow reaches. Without a scope it is the project, as an older page means it."""
    scope = form.get("scope", "project")
    if scope not in SCOPES:
        raise NoAnswer("There is no such scope.")
    how: dict[str, Any] = {"scope": scope}
    if scope == "minutes":
        minutes = form.get("minutes", "")
        if not minutes.isdecimal() or not 1 <= int(minutes) <= MOST_MINUTES:
            raise NoAnswer(f"Give a number of minutes from 1 to {MOST_MINUTES:,}.")
        how["minutes"] = int(minutes)
    if "pattern" in form:
        how["patterns"] = [pattern.strip() for pattern in form.getlist("pattern") if pattern.strip()]
    return how
