"""The todo list of a session: replaced as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from sessions.core.models import Session, Todo
from sessions.core.wire.session import TodoInfo

from . import events


def replace(session: Session, todos: Sequence[TodoInfo]) -> None:
    with transaction.atomic():
        Todo.objects.filter(session=session).delete()
        Todo.objects.bulk_create(
            Todo(
                session=session,
                position=position,
                content=todo.content,
                status=todo.status,
                priority=todo.priority,
            )
            for position, todo in enumerate(todos)
        )
        properties = {"sessionID": session.id, "todos": [todo.wire() for todo in todos]}
        events.record("todo.updated", properties, project=session.project_id, session=session.id)


def cancel(session: Session) -> None:
    """The person no longer wants what is not done."""
    dropped = {"status": "cancelled"}
    found = listing(session.id)
    replace(session, [todo if todo.ended else todo.model_copy(update=dropped) for todo in found])


def listing(session_id: str) -> list[TodoInfo]:
    return [
        TodoInfo(content=row.content, status=row.status, priority=row.priority)
        for row in Todo.objects.filter(session_id=session_id)
    ]
