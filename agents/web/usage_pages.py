"""The page of what was used: tokens, cost and time by day, project, session, agent, model and person."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from io import StringIO
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.principal import person_of, sees
from sessions.core.store import spending
from sessions.core.store.spending import Key, Spending, Sums
from sessions.web.respond import page

DAYS = (7, 30, 90, 365)
MOST_ROWS = 50
"""Of a table, the dearest; the file has all."""
_HEIGHT, _WIDTH, _GAP = 120.0, 720.0, 0.25
_COLUMNS = (
    "day", "project", "session", "title", "agent", "model", "person", "calls", "input", "output", "reasoning",
    "cache_read", "cache_write", "cost", "seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """For so many `days`, the last of which is `today`, in one project or in all that one sees."""

    days: int
    today: date
    chosen: str
    projects: Mapping[str, Project]

    @property
    def ids(self) -> Sequence[str]:
        return [self.chosen] if self.chosen else list(self.projects)


@dataclass(frozen=True, slots=True)
class Bar:
    """Of a plot, in its units from its upper left corner."""

    day: date
    sums: Sums
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    sums: Sums
    share: int
    """Of all, in percent: of the cost, or of the tokens where nothing had a cost."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`left` are the rows that are not shown."""

    title: str
    rows: Sequence[Row]
    left: int


@require_GET
async def usage(request: HttpRequest) -> HttpResponse:
    asked, found = await _found(request)
    return await page(
        request,
        "usage/page.html",
        asked=asked,
        choices=DAYS,
        total=found.total,
        bars=list(_bars(asked, found)),
        tables=list(_tables(asked, found)),
        height=_HEIGHT,
        width=_WIDTH,
    )


@require_GET
async def table(request: HttpRequest) -> HttpResponse:
    """The same as a file (RFC 4180), by day, session, agent, model and person."""
    asked, found = await _found(request)
    out = StringIO()
    lines = csv.writer(out)
    lines.writerow(_COLUMNS)
    for key, sums in sorted(found.sums.items(), key=lambda item: (item[0].day, item[0].session)):
        name = asked.projects[key.project].name or asked.projects[key.project].worktree
        named = (name, key.session, found.titles.get(key.session, ""), key.agent, key.model, key.person)
        taken = (sums.calls, sums.input, sums.output, sums.reasoning, sums.read, sums.written)
        lines.writerow(
            (key.day.isoformat(), *map(_inert, named), *taken, f"{sums.cost:.6f}", sums.time / 1000)
        )
    response = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="usage-{asked.today.isoformat()}.csv"'
    return response


def _inert(text: str) -> str:
    """What a spreadsheet would take for a formula is a text to it, too."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


async def _found(request: HttpRequest) -> tuple[Asked, Spending]:
    asked = await _asked(request)
    since, found = spending.begin_of(asked.days, asked.today), Spending()
    for sessions in await in_db(spending.pieces, since, asked.ids):
        await in_db(spending.add, found, sessions, since)
    return asked, found


async def _asked(request: HttpRequest) -> Asked:
    person = person_of(request)
    every = await in_db(lambda: Project.objects.in_bulk())
    seen = {key: project for key, project in every.items() if sees(person, key)}
    days = request.GET.get("days", "")
    chosen = request.GET.get("project", "")
    return Asked(
        days=int(days) if days in map(str, DAYS) else DAYS[1],
        today=date.today(),
        chosen=chosen if chosen in seen else "",
        projects=dict(sorted(seen.items(), key=lambda item: item[1].name.casefold())),
    )


def _bars(asked: Asked, found: Spending) -> Iterator[Bar]:
    """One a day, the highest as high as the plot."""
    by_day = found.by(lambda key: key.day)
    most = max((_weight(sums, found.total) for sums in by_day.values()), default=0) or 1
    step = _WIDTH / asked.days
    for number in range(asked.days):
        day = asked.today - timedelta(days=asked.days - 1 - number)
        sums = by_day.get(day, Sums())
        height = _HEIGHT * _weight(sums, found.total) / most
        yield Bar(day, sums, number * step, _HEIGHT - height, step * (1 - _GAP), height)


def _weight(sums: Sums, total: Sums) -> float:
    return sums.cost if total.cost else sums.tokens


def _tables(asked: Asked, found: Spending) -> Iterator[Table]:
    def project(key: Key) -> str:
        return asked.projects[key.project].name or asked.projects[key.project].worktree

    def session(key: Key) -> tuple[str, str]:
        return found.titles.get(key.session) or key.session, reverse(
            "session", args=(key.project, key.session)
        )

    parts: list[tuple[str, Callable[[Key], Any]]] = [
        (gettext("Models"), lambda key: key.model),
        (gettext("Agents"), lambda key: key.agent),
        (gettext("Projects"), project),
        (gettext("Sessions"), session),
    ]
    if any(key.person for key in found.sums):
        parts.insert(0, (gettext("People"), lambda key: key.person or gettext("Not known")))
    for title, part in parts:
        yield _table(title, found.by(part), found.total)


def _table(title: str, sums: Mapping[Any, Sums], total: Sums) -> Table:
    whole = _weight(total, total) or 1
    dearest = sorted(sums.items(), key=lambda item: (-_weight(item[1], total), str(item[0])))
    rows = []
    for name, one in dearest[:MOST_ROWS]:
        shown, url = name if isinstance(name, tuple) else (name, "")
        rows.append(Row(shown, one, round(100 * _weight(one, total) / whole), url))
    return Table(title, rows, max(0, len(dearest) - MOST_ROWS))
