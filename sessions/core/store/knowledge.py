"""What people know of a project: notes, plans and todos (`ProjectNote`), and commands with names
(`ProjectAction`). All of it belongs to the project that worktrees are made from."""

from __future__ import annotations

from django.utils.translation import gettext

from sessions.core.ids import ascending, now
from sessions.core.models import Project, ProjectAction, ProjectNote
from sessions.core.sentences import grouped

from . import events, pins

LONGEST_TITLE = 200
LONGEST_NAME = 40
LONGEST = 20_000
"""Characters of a text, or of a command."""
MOST = 500
"""Of notes, and of actions."""
Kind = ProjectNote.Kind


class Refused(ValueError):
    """It cannot be saved; the text is for the person who wrote it."""


def home(project: Project) -> Project:
    """The project whose knowledge one has."""
    return project.worktree_of or project


def notes(project: Project) -> list[ProjectNote]:
    """In the order in which they were written."""
    return list(ProjectNote.objects.filter(project=home(project)))


def note(project: Project, note_id: str) -> ProjectNote | None:
    return ProjectNote.objects.filter(project=home(project), id=note_id).first()


def write(
    project: Project, kind: str, title: str, text: str = "", *, note_id: str = "", actor: str = ""
) -> ProjectNote:
    """A new one, or other words for one that there is, also where it is pinned. Raises Refused."""
    title = " ".join(title.split())
    if kind not in Kind or not title or len(title) > LONGEST_TITLE:
        raise Refused(gettext("It takes a title of up to %(most)s characters.") % {"most": LONGEST_TITLE})
    if len(text) > LONGEST:
        raise Refused(
            gettext("This is too long: at most %(longest)s characters.") % {"longest": grouped(LONGEST)}
        )
    with events.together():
        if note_id:
            row = note(project, note_id)
            if row is None:
                raise Refused(gettext("It is not there any more."))
        else:
            if ProjectNote.objects.filter(project=home(project)).count() >= MOST:
                raise Refused(gettext("At most %(most)s notes: remove one first.") % {"most": MOST})
            row = ProjectNote(id=ascending("note"), project=home(project), time_created=now())
        row.kind, row.title, row.text = kind, title, "" if kind == Kind.TODO else text.strip()
        row.actor, row.time_updated = actor, now()
        row.save(force_insert=not note_id)
        pins.renew(row)
    return row


def tick(project: Project, note_id: str, done: bool) -> None:
    """A todo is done, or is not."""
    rows = ProjectNote.objects.filter(project=home(project), id=note_id, kind=Kind.TODO)
    rows.update(done=done, time_updated=now())


def remove(project: Project, note_id: str) -> tuple[ProjectNote, list[str]] | None:
    """With its pins: what was there, and the sessions that had it pinned. None for one that is not there."""
    with events.together():
        row = note(project, note_id)
        if row is None:
            return None
        pinned = pins.forget(row)
        row.delete()
    return row, pinned


def actions(project: Project) -> list[ProjectAction]:
    """In the order in which they were made."""
    return list(ProjectAction.objects.filter(project=home(project)))


def action(project: Project, action_id: str) -> ProjectAction | None:
    return ProjectAction.objects.filter(project=home(project), id=action_id).first()


def save_action(project: Project, name: str, command: str, *, action_id: str = "") -> ProjectAction:
    """A new one, or in the place of one that there is. Raises Refused."""
    name, command = " ".join(name.split()), command.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(gettext("It takes a name of up to %(most)s characters.") % {"most": LONGEST_NAME})
    if not command or len(command) > LONGEST:
        raise Refused(
            gettext("It takes a command of up to %(longest)s characters.") % {"longest": grouped(LONGEST)}
        )
    with events.together():
        rows = ProjectAction.objects.filter(project=home(project))
        if rows.filter(name=name).exclude(id=action_id).exists():
            raise Refused(gettext("There is an action %(name)s already.") % {"name": name})
        row = rows.filter(id=action_id).first() if action_id else None
        if action_id and row is None:
            raise Refused(gettext("It is not there any more."))
        if row is None and rows.count() >= MOST:
            raise Refused(gettext("At most %(most)s actions: remove one first.") % {"most": MOST})
        row = row or ProjectAction(id=ascending("act"), project=home(project))
        row.name, row.command = name, command
        row.save(force_insert=not action_id)
    return row


def remove_action(project: Project, action_id: str) -> ProjectAction | None:
    """The one that was there."""
    row = action(project, action_id)
    if row is not None:
        row.delete()
    return row
