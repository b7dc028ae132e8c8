"""What waits for a person, over all projects and sessions and the subagents of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from sessions.core.models import PermissionRequest, QuestionRequest, Session
from sessions.core.store import permissions, questions
from sessions.core.text import visible
from sessions.rendering.html import html
from sessions.rendering.questions import request

from .kinds import details

_LINES = frozenset(
    {"bash", "read", "list", "glob", "grep", "lsp", "webfetch", "websearch", "codesearch", "skill"}
)
"""Permissions about which one line may say all."""

EVENTS = frozenset(
    {
        "permission.asked",
        "permission.replied",
        "question.asked",
        "question.replied",
        "question.rejected",
        "session.deleted",
    }
)
"""Events of any session that change the inbox; beside them `session.updated` of one that is named in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: `kind` is the room its page lies in, `version` changes with what is asked."""

    id: str
    kind: str
    version: str
    title: str
    icon: str
    line: str
    origin: str
    time: int
    whole: bool = False
    """Whether the line says all that would be allowed."""

    @property
    def url(self) -> str:
        return reverse("permission-card" if self.kind == "permissions" else "question-card", args=(self.id,))


@dataclass(frozen=True, slots=True)
class Group:
    """The requests of a session and of those it started, oldest first."""

    id: str
    title: str
    project: str
    url: str
    rules: str
    entries: list[Entry] = field(default_factory=list)

    @property
    def version(self) -> str:
        return f"{self.title}\n{self.project}"


@dataclass(frozen=True, slots=True)
class Inbox:
    groups: Sequence[Group]

    @property
    def count(self) -> int:
        return sum(len(group.entries) for group in self.groups)

    @property
    def sessions(self) -> frozenset[str]:
        """Whose names are shown."""
        return frozenset(group.id for group in self.groups)

    def html(self) -> SafeString:
        return html("approvals/inbox_list.html", groups=self.groups, oob=True)

    def wire(self) -> dict[str, Any]:
        """What the browser's own part needs: the list, and of each request what a notification says."""
        waiting = [_said(group, entry) for group in self.groups for entry in group.entries]
        return {"html": self.html(), "waiting": waiting}


def inbox() -> Inbox:
    """The inbox as it is now; runs on the ORM's thread."""
    asked = [(row.session, _permission(row)) for row in permissions.inbox()]
    asked += [(row.session, _question(row)) for row in questions.pending()]
    groups: dict[str, Group] = {}
    for session, entry in sorted(asked, key=lambda one: one[1].time):
        root = _root(session)
        groups.setdefault(root.id, _group(root)).entries.append(entry)
    return Inbox(list(groups.values()))


def _group(root: Session) -> Group:
    project = root.project
    return Group(
        root.id,
        visible(root.title),
        visible(project.name),
        root.get_absolute_url(),
        reverse("rules", args=(project.id,)),
    )


def _permission(row: PermissionRequest) -> Entry:
    told = details(row, row.session.project.worktree)
    return Entry(
        id=row.id,
        kind="permissions",
        version=row.arguments_hash,
        title=told.title,
        icon=told.icon,
        line=told.line,
        origin=_origin(row.session),
        time=row.time_created,
        whole=told.is_a_line and row.permission in _LINES,
    )


def _question(row: QuestionRequest) -> Entry:
    shown = request(row, row.session)
    return Entry(
        id=row.id,
        kind="questions",
        version=row.id,
        title=shown.title,
        icon=shown.icon,
        line=shown.questions[0].text[:200] if shown.questions else "",
        origin=_origin(row.session),
        time=row.time_created,
    )


def _origin(session: Session) -> str:
    """The subagent that asks."""
    return visible(session.title) if session.parent_id else ""


def _root(session: Session) -> Session:
    seen = {session.id}
    while session.parent is not None and session.parent_id not in seen:
        session = session.parent
        seen.add(session.id)
    return session


def _said(group: Group, entry: Entry) -> dict[str, str]:
    text = " · ".join(part for part in (entry.line, group.title, group.project) if part)
    return {"id": entry.id, "title": entry.title, "text": text, "url": group.url}
