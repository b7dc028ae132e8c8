"""The conversations of a project at another node, copied from its tables into one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import AutoField, BigAutoField, Model
from django.utils.translation import gettext

from opencode_web.team import schema_of
from sessions.core.gate import gate
from sessions.core.models import (
    Admission,
    AdmittedPrompt,
    ContextEpoch,
    ContextMessage,
    FileChange,
    Goal,
    Message,
    Operation,
    Part,
    Payment,
    PermissionRequest,
    Pin,
    Project,
    QuestionRequest,
    Resumption,
    ReviewComment,
    ReviewMark,
    Session,
    StagedFile,
    Switch,
    Todo,
    Tour,
    Verdict,
)
from sessions.core.store import goals
from sessions.core.store import sessions as session_store

ELSEWHERE = "Its project came here from another machine."
"""Why a goal is not worked at until a person says so."""
LATER = "it was changed after the state of the files that was restored here"
"""Why a change cannot be taken back whose contents were not parked."""
_MOVED = (
    "CASE WHEN {0} = %(old)s OR starts_with({0}, %(old)s || '/') "
    "THEN %(new)s || substr({0}, length(%(old)s) + 1) ELSE {0} END"
)
_IN = "CASE WHEN {0} = ANY(%(sessions)s) THEN {0} END"
_OF_SESSION = "session_id = ANY(%(sessions)s)"
_OF_PROJECT = f"{_OF_SESSION} AND project_id = %(from)s"
_KNOWN = f"SELECT id FROM {{there}}.opencode_sessions_operation WHERE {_OF_PROJECT}"  # noqa: S608
_PROJECT = {"project_id": "%(project)s"}
_MESSAGES = f"SELECT id FROM {{there}}.opencode_sessions_message WHERE {_OF_SESSION}"  # noqa: S608
_GOALS = f"SELECT id FROM {{there}}.opencode_sessions_goal WHERE {_OF_SESSION}"  # noqa: S608


def _known(column: str) -> str:
    return f"CASE WHEN {column} IN ({_KNOWN}) THEN {column} END"


COPIED: Mapping[type[Model], tuple[str, Mapping[str, str]]] = {
    Session: (
        "id = ANY(%(sessions)s)",
        {
            **_PROJECT,
            "directory": _MOVED.format("directory"),
            "parent_id": _IN.format("parent_id"),
            "forked_from_id": _IN.format("forked_from_id"),
            "session_folder_id": "NULL",
            "share_token": "''",
            "share_base": "''",
            "lease_owner": "''",
            "lease_until": "0",
        },
    ),
    Message: (_OF_SESSION, {"document": "NULL"}),
    Part: (_OF_SESSION, {}),
    Payment: (f"message_id IN ({_MESSAGES})", {}),
    Todo: (_OF_SESSION, {}),
    Admission: (_OF_SESSION, {}),
    AdmittedPrompt: (_OF_SESSION, {"resume": "FALSE"}),
    ContextEpoch: (_OF_SESSION, {"directory": _MOVED.format("directory"), "ended": "TRUE"}),
    ContextMessage: (_OF_SESSION, {}),
    Switch: (_OF_SESSION, {}),
    Resumption: (
        f"prompt_id IN ({_MESSAGES})",
        {"state": "''"},
    ),
    Operation: (_OF_PROJECT, {**_PROJECT, "of_id": _known("of_id")}),
    FileChange: (
        _OF_PROJECT,
        {
            **_PROJECT,
            "operation_id": _known("operation_id"),
            "undone_by_id": _known("undone_by_id"),
            "for_session_id": _IN.format("for_session_id"),
            "skipped": "CASE WHEN time_created > %(time)s THEN %(later)s ELSE skipped END",
        },
    ),
    PermissionRequest: (_OF_SESSION, {}),
    QuestionRequest: (_OF_SESSION, {}),
    ReviewMark: (_OF_SESSION, {}),
    ReviewComment: (_OF_SESSION, {}),
    Tour: (_OF_SESSION, {}),
    StagedFile: (_OF_PROJECT, {**_PROJECT, "by_session_id": _IN.format("by_session_id")}),
    Pin: (_OF_SESSION, {"note_id": "NULL"}),
    Goal: (_OF_SESSION, {"time_active": "NULL"}),
    Verdict: (f"goal_id IN ({_GOALS})", {}),
}
"""Which rows, and what is another thing here. A prompt that waits is sent by nobody but a person who goes on;
rules that allow something, and pages that were shared, are of the machine where they were made."""


class Differs(Exception):
    """The tables of the other node are of another version, or have what is here already; in words."""


@dataclass(frozen=True, slots=True)
class Newer:
    """What a session has that came after a moment."""

    title: str
    messages: int
    edits: int


def newer(project_id: str, time: int) -> list[Newer]:
    """Of a project's sessions those that went on after a moment (ms). Runs in the rows of its node."""
    later = {"session__project_id": project_id, "session__time_deleted": None, "time_created__gt": time}
    messages = Counter(Message.objects.filter(**later).values_list("session_id", flat=True))
    edits = Counter(FileChange.objects.filter(**later).values_list("session_id", flat=True))
    rows = Session.objects.filter(id__in=messages | edits).order_by("-used")
    return [Newer(row.title, messages[row.id], edits[row.id]) for row in rows]


def running(project_id: str) -> bool:
    """Whether a turn runs, or was not closed yet. Runs in the rows of its node."""
    return Session.objects.filter(project_id=project_id).exclude(lease_owner="").exists()


def copy(node: str, source: str, worktree: str, project: Project, time: int) -> list[str]:
    """The sessions of project `source` at `node`, which lay at `worktree`, as those of `project` here; gives
    their ids. `time` (ms) is of what moment its files are. All of them or, with Differs, none."""
    there, own = schema_of(node), schema_of(settings.NODE)
    with transaction.atomic(), connection.cursor() as cursor:
        if _version(cursor, there) != _version(cursor, own):
            raise Differs(
                gettext("%(node)s is of another version: its conversations cannot be taken over by this one")
                % {"node": node}
            )
        asked = f"SELECT id FROM {there}.opencode_sessions_session WHERE project_id = %s"  # noqa: S608
        cursor.execute(asked, [source])
        ids = [id for (id,) in cursor.fetchall()]
        _make_room(ids)
        values = {
            "sessions": ids,
            "from": source,
            "project": project.id,
            "old": worktree,
            "new": project.worktree,
            "time": time,
            "later": LATER,
        }
        for model, (which, changed) in COPIED.items():
            _copy(cursor, there, model, which, changed, values)
        for goal in Goal.objects.filter(session__in=ids, state=Goal.State.ACTIVE):
            goals.pause(goal.session_id, ELSEWHERE)
        for row in Session.objects.filter(id__in=ids, time_deleted=None):
            session_store.announce("session.created", row)
    return ids


def _copy(
    cursor: CursorWrapper,
    there: str,
    model: type[Model],
    which: str,
    changed: Mapping[str, str],
    values: Mapping[str, Any],
) -> None:
    """What the database numbers by itself has new numbers here, in the same order."""
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not isinstance(field, AutoField | BigAutoField)]
    names = [f'"{field.column}"' for field in fields]
    given = [
        changed.get(str(field.column), f'"{field.column}"').replace("{there}", there) for field in fields
    ]
    cursor.execute(
        f'INSERT INTO "{meta.db_table}" ({", ".join(names)}) SELECT {", ".join(given)} '  # noqa: S608
        f'FROM {there}."{meta.db_table}" WHERE {which.replace("{there}", there)} ORDER BY "{meta.pk.column}"',
        values,
    )


def _make_room(ids: Sequence[str]) -> None:
    """Of sessions that were here before and went on elsewhere the rows of then go. Raises Differs."""
    here = Session.objects.filter(id__in=ids)
    for project_id in here.order_by().values_list("project_id", flat=True).distinct():
        if not gate(project_id).closed:
            raise Differs(gettext("conversations of it are here already, in a project that is open"))
    here.delete()


def _version(cursor: CursorWrapper, schema: str) -> set[str]:
    cursor.execute(f"SELECT app || '.' || name FROM {schema}.django_migrations")  # noqa: S608
    return {name for (name,) in cursor.fetchall()}
