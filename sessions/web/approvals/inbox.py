"""What waits for a person, over all projects and sessions and the subagents of these, how runs of schedules
ended that nobody has looked at, and its socket.

`/ws/inbox/` is open on every page, whatever it shows. A message is the whole inbox (`Inbox.wire`) with the
`keys` in force, `rules` with the projects whose saved rules are others now, `ended` with the sessions whose
turns have just ended, or `servers`: how MCP or language servers stand is to be read again. An empty one is a
heartbeat. The guard has authenticated and checked the
Origin.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Occurrence, PermissionRequest, QuestionRequest, Session
from sessions.core.principal import person_in, sees
from sessions.core.roles import Person
from sessions.core.sockets import HEARTBEAT
from sessions.core.store import permissions, questions, schedules
from sessions.core.store.family import topmost
from sessions.core.store.keys import CHANGED
from sessions.core.text import visible
from sessions.core.wire.messages import ABORTED
from sessions.rendering.children import origin
from sessions.rendering.html import html
from sessions.rendering.questions import request
from sessions.rendering.schedule import run_row
from sessions.web import keys
from sessions.web.approvals.kinds import details
from sessions.web.telling import TellingSocket

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
        "session.read",
        schedules.CHANGED,
    }
)
"""Events of any session that change the inbox; beside them `session.updated` of one that is named in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One request, or a run that has ended: `kind` is the room its page lies in, `version` changes with what
    is asked. `address` is where a run is dismissed."""

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
    address: str = ""

    @property
    def url(self) -> str:
        if self.address:
            return self.address
        return reverse("permission-card" if self.kind == "permissions" else "question-card", args=(self.id,))


@dataclass(frozen=True, slots=True)
class Group:
    """The requests of a session and of those it started, oldest first; or one run of a schedule."""

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


def inbox(person: Person | None = None) -> Inbox:
    """The inbox as it is now, of the projects that a person sees; runs on the ORM's thread."""
    asked = [(row.session, _permission(row)) for row in permissions.inbox()]
    asked += [(row.session, _question(row)) for row in questions.pending()]
    asked = [one for one in asked if sees(person, one[0].project_id)]
    groups: dict[str, Group] = {}
    for session, entry in sorted(asked, key=lambda one: one[1].time):
        root = topmost(session)
        groups.setdefault(root.id, _group(root)).entries.append(entry)
    ended = [_run(row) for row in schedules.unread() if sees(person, row.schedule.project_id)]
    return Inbox([*groups.values(), *ended])


def _run(row: Occurrence) -> Group:
    told, schedule = run_row(row), row.schedule
    where = (schedule.project_id, schedule.id)
    entry = Entry(
        id=f"run_{row.id}",
        kind="runs",
        version=str(row.id),
        title=told.label,
        icon=told.icon,
        line=visible(told.reason or row.result)[:_MOST_SAID],
        origin="",
        time=row.time_ended or row.time_created,
        address=reverse("read-run", args=(*where, row.id)),
    )
    url = row.session.get_absolute_url() if row.session else schedule.get_absolute_url()
    name, project = visible(schedule.name), visible(schedule.project.name)
    return Group(f"run_{row.id}", name, project, url, "", [entry])


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
        origin=origin(row.session),
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
        origin=origin(row.session),
        time=row.time_created,
    )


def _said(group: Group, entry: Entry) -> dict[str, str]:
    text = " · ".join(part for part in (entry.line, group.title, group.project) if part)
    said = {"id": entry.id, "title": entry.title, "text": text, "url": group.url}
    return said | ({"kind": entry.kind} if entry.address else {})


def ended(ids: Collection[str], person: Person | None = None) -> list[dict[str, str]]:
    """What a notification says of the turns of some sessions, which have ended by themselves; not of those
    that were started by another's. On the ORM's thread."""
    rows = Session.objects.filter(id__in=ids, parent=None, time_deleted=None).select_related("project")
    found = (row for row in rows if sees(person, row.project_id))
    return [_ending(row) for row in found if (row.error or {}).get("name") != ABORTED]


def _ending(row: Session) -> dict[str, str]:
    failed = row.error or {}
    said = str(failed.get("data", {}).get("message", ""))[:_MOST_SAID]
    text = " · ".join(visible(part) for part in (row.title, row.project.name, said) if part)
    kind, title = ("failed", gettext("Failed")) if failed else ("done", gettext("Done"))
    return {
        "id": f"{row.id} {row.time_updated}",
        "kind": kind,
        "title": title,
        "text": text,
        "url": row.get_absolute_url(),
    }


_MOST_SAID = 200
RULES = "permission.rules"
ENDED = "session.idle"
SERVERS = frozenset({"mcp.changed", "mcp.tools.changed", "lsp.updated"})
TOLD = EVENTS | SERVERS | {RULES, CHANGED, ENDED}
GATHER = 0.05
"""Seconds in which requests that come together become one message."""


class InboxSocket(TellingSocket):
    """One browser tab."""

    async def _stream(self) -> None:
        """Each message is read from the rows, now and then without an event too: what is lost costs time."""
        named: frozenset[str] = frozenset()
        sent, person, fresh = "", person_in(self.scope), True

        def wants(event: bus.Event) -> bool:
            named_here = event.type == "session.updated" and event.session_id in named
            return event.type in TOLD or named_here

        async with bus.subscribe(wants=wants) as mailbox:
            while True:
                if fresh:
                    found, pressed = await in_db(lambda: (inbox(person), keys.table()))
                    named = found.sessions
                    text = json.dumps({**found.wire(), "keys": pressed}, ensure_ascii=False)
                    await self.send(text_data=text if text != sent else "{}")
                    sent = text
                events = await mailbox.take(HEARTBEAT)
                idle = {event.session_id for event in events if event.type == ENDED}
                if idle and (told := await in_db(ended, idle, person)):
                    await self.send(text_data=json.dumps({"ended": told}, ensure_ascii=False))
                fresh = mailbox.overflowed or not events or any(event.type != ENDED for event in events)
                if ruled := sorted({event.project_id for event in events if event.type == RULES}):
                    await self.send(text_data=json.dumps({"rules": ruled}))
                if mailbox.overflowed or any(event.type in SERVERS for event in events):
                    await self.send(text_data='{"servers": true}')
                mailbox.overflowed = False
                await asyncio.sleep(GATHER)


_application: Any = InboxSocket.as_asgi()  # `path` takes ASGI applications too, which its types do not say
websocket_urlpatterns = [path("ws/inbox/", _application)]
