"""The sessions of all projects by how they stand, as the page and its socket show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.models import Label, Project, Session
from sessions.core.principal import sees
from sessions.core.repository import branch_of
from sessions.core.roles import Person
from sessions.core.store import overview
from sessions.core.store.overview import Found, Line, Wanted
from sessions.core.text import visible
from sessions.rendering.doing import doing
from sessions.rendering.html import html
from sessions.web.live.states import STATES, state_of

COLUMNS: Final = {
    "waiting": gettext_noop("Waiting for you"),
    "running": gettext_noop("Running"),
    "done": gettext_noop("Done since you looked"),
    "failed": gettext_noop("Failed"),
    "idle": gettext_noop("Idle"),
}
"""In their order on the board."""
_OF_STATE = {"waiting": "waiting", "working": "running", "failed": "failed", "interrupted": "failed"}
_PINNED = 10**15
"""What is pinned comes before all times (ms)."""
FIELDS = ("q", "project", "label", "column", "archived")
"""Of the filter, as they are in addresses."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What is shown of the board; `column` is one of COLUMNS, empty for all."""

    wanted: Wanted
    column: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filter:
        """Of the fields of an address; what is none is left out."""
        column = given.get("column", "")
        return cls(
            Wanted(
                words=given.get("q", "").strip()[:200],
                project=given.get("project", ""),
                label=given.get("label", ""),
                archived=bool(given.get("archived")),
            ),
            column if column in COLUMNS else "",
        )

    def seen_by(self, person: Person | None) -> Filter:
        """The same of the projects that a person sees; on the ORM's thread."""
        if person is None:
            return self
        every = Project.objects.values_list("id", flat=True)
        seen = frozenset(project for project in every if sees(person, project))
        return replace(self, wanted=replace(self.wanted, projects=seen))

    @property
    def query(self) -> str:
        """As an address has it; empty for everything."""
        wanted = self.wanted
        fields = {
            "q": wanted.words,
            "project": wanted.project,
            "label": wanted.label,
            "column": self.column,
            "archived": "1" if wanted.archived else "",
        }
        return urlencode({name: value for name, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class Below:
    """A subagent at work."""

    session: Session
    doing: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line as it is shown; `order` high to low."""

    line: Line
    state: str
    words: str
    column: str
    order: int
    branch: str
    doing: str
    below: tuple[Below, ...]

    @property
    def model(self) -> str:
        return self.line.session.model_id.rpartition("/")[2]


def column_of(line: Line) -> str:
    """Where a session stands."""
    state = _state(line)
    if state in _OF_STATE:
        return _OF_STATE[state]
    return "done" if line.session.unread else "idle"


def _state(line: Line) -> str:
    state = state_of(line.session, line.waits)
    return "working" if line.works and state != "waiting" else state


def rows(lines: Iterable[Line]) -> list[Row]:
    """With the branches of their folders, each read once; not on the ORM's thread."""
    branches: dict[str, str] = {}
    found = []
    for line in lines:
        folder = line.session.directory
        if folder not in branches:
            branches[folder] = branch_of(Path(folder))
        found.append(_row(line, branches[folder]))
    return found


def _row(line: Line, branch: str) -> Row:
    session, state = line.session, _state(line)
    root = session.project.worktree
    return Row(
        line,
        state,
        gettext(STATES[state]),
        column_of(line),
        session.used + (_PINNED if session.time_pinned else 0),
        visible(branch),
        doing(session.status or {}, line.parts, root),
        tuple(Below(one.session, doing(one.session.status or {}, one.parts, root)) for one in line.below),
    )


def board(found: Found, shown: Filter) -> SafeString:
    """All columns, or the one that is wanted."""
    columns: dict[str, list[Row]] = {key: [] for key in COLUMNS if shown.column in ("", key)}
    for row in rows(found.lines):
        if row.column in columns:
            columns[row.column].append(row)
    for listed in columns.values():
        listed.sort(key=lambda row: row.order, reverse=True)
    return html(
        "overview/board.html",
        columns=[(key, gettext(COLUMNS[key]), listed) for key, listed in columns.items()],
        older=found.older,
        query=shown.query,
    )


def more(found: Found, shown: Filter) -> SafeString:
    """Older idle ones, and the way to those before them."""
    return html("overview/more.html", rows=rows(found.lines), older=found.older, query=shown.query)


def renewed(lines: Mapping[str, Line | None], shown: Filter) -> tuple[str, list[str]]:
    """Rows for a page that is open, and the ids of sessions that it no longer shows."""
    wanted = {id: line for id, line in lines.items() if line is not None and _in(line, shown)}
    made = [html("overview/row.html", row=row) for row in rows(wanted.values())]
    return "".join(made), sorted(lines.keys() - wanted.keys())


def _in(line: Line, shown: Filter) -> bool:
    return shown.column in ("", column_of(line))


def choices(projects: Collection[Project]) -> dict[str, Any]:
    """What the filter offers; on the ORM's thread."""
    return {
        "projects": sorted(projects, key=lambda one: one.name.lower()),
        "labels": list(Label.objects.all()),
        "columns": [(key, gettext(name)) for key, name in COLUMNS.items()],
    }


def view_words(query: Mapping[str, str], names: Mapping[str, str]) -> str:
    """What a saved view shows, in words; `names` are those of projects."""
    shown = Filter.of(query)
    parts = [
        gettext(COLUMNS[shown.column]) if shown.column else "",
        names.get(shown.wanted.project, ""),
        shown.wanted.label,
        shown.wanted.words,
        gettext("Archived") if shown.wanted.archived else "",
    ]
    return visible(" · ".join(filter(None, parts)))


def read(shown: Filter, person: Person | None, before: int = 0) -> Found:
    """On the ORM's thread."""
    return overview.found(shown.seen_by(person).wanted, before=before)


def read_some(shown: Filter, person: Person | None, ids: Collection[str]) -> dict[str, Line | None]:
    """The same of some sessions."""
    return overview.lines(shown.seen_by(person).wanted, ids)
