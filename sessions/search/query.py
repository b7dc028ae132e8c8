"""What is typed into the search of conversations: words, phrases in quotation marks, and filters.

A message is found that has all the words. Filters (`agent:build`, `file:"two words.txt"`) narrow that down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final, Literal, cast, get_args

from django.utils.translation import gettext

from sessions.core.index.texts import Facet
from sessions.core.index.words import Term

Name = Literal["agent", "model", "file", "ran", "has", "project", "session", "after", "before"]
NAMES: Final[tuple[Name, ...]] = get_args(Name)
_FACETS: Final = get_args(Facet)
_PIECE = re.compile(rf'(?:({"|".join(NAMES)}):)?("[^"]*"?|\S+)', re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_AGO = re.compile(r"(\d{1,4})([dw])")


@dataclass(frozen=True, slots=True)
class Query:
    """`after` and `before` bound the time of a message in milliseconds, `before` itself not included;
    `project` is `this`, or a part of a name. `problems` say to a person what was not understood."""

    terms: tuple[Term, ...] = ()
    facets: tuple[tuple[Facet, Term], ...] = ()
    project: str = ""
    session: str = ""
    after: int | None = None
    before: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """What is marked in a conversation: the words, or without any the files and commands."""
        found = self.terms or [term for name, term in self.facets if name in ("file", "ran")]
        return [term.text for term in found]

    @property
    def is_empty(self) -> bool:
        bounded = self.after is not None or self.before is not None
        return not (self.terms or self.facets or self.project or self.session or bounded)


def parse(text: str, now: datetime) -> Query:
    """`now` has the zone of the person who asks, in which days begin."""
    terms: list[Term] = []
    facets: list[tuple[Facet, Term]] = []
    others: dict[Name, str] = {}
    problems: list[str] = []
    for name, value in pieces(text):
        if not value.strip():
            continue
        if not name:
            terms.append(Term(value))
        elif name in _FACETS:
            facets.append((cast("Facet", name), Term(value)))
        else:
            others[name] = value
    times: dict[str, int] = {}
    bounds: tuple[Name, ...] = ("after", "before")
    for bound in bounds:
        if given := others.get(bound):
            if (moment := _moment(given, now)) is None:
                problems.append(
                    gettext("%(bound)s:%(given)s is no date such as 2026-01-31, 2026-01, 2026, today or 7d.")
                    % {"bound": bound, "given": given}
                )
            else:
                times[bound] = moment
    if signs := [term.text for term in terms if not term.lookups]:
        problems.append(
            gettext("%(signs)s has no letter or digit; add a word that stands near it.")
            % {"signs": " ".join(signs)}
        )
    return Query(
        terms=tuple(term for term in terms if term.lookups),
        facets=tuple(facets),
        project=others.get("project", ""),
        session=others.get("session", ""),
        after=times.get("after"),
        before=times.get("before"),
        problems=tuple(problems),
    )


def pieces(text: str) -> list[tuple[Name | Literal[""], str]]:
    """`(filter or "", value)` in order, without quotation marks; a filter that is only begun has no value."""
    found: list[tuple[Name | Literal[""], str]] = []
    for match in _PIECE.finditer(text):
        name, value = (match[1] or "").lower(), match[2].strip('"')
        if not name and value.endswith(":") and value[:-1].lower() in NAMES:
            name, value = value[:-1].lower(), ""
        found.append((cast("Name", name), value))
    return found


def _moment(value: str, now: datetime) -> int | None:
    """When a day, month or year begins, in milliseconds; None for what is none."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if value in ("today", "yesterday"):
        return _milliseconds(today - timedelta(days=value == "yesterday"))
    if ago := _AGO.fullmatch(value):
        return _milliseconds(today - timedelta(days=int(ago[1]) * (7 if ago[2] == "w" else 1)))
    date = _DATE.fullmatch(value)
    try:
        return date and _milliseconds(_begin(date, now.tzinfo))
    except (ValueError, OverflowError):
        return None


def _begin(date: re.Match[str], zone: tzinfo | None) -> datetime:
    return datetime(int(date[1]), int(date[2] or 1), int(date[3] or 1), tzinfo=zone)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
