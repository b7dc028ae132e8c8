"""The rows of workspaces: which project is at which node, what is parked of it, and where it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from opencode_web.nodes.models import Node, Workspace
from opencode_web.team import ALIAS
from sessions.core.gate import OPEN, Gate
from sessions.core.ids import now
from sessions.core.models import Project


def of(node: str, project: Project) -> Workspace:
    """The one of a project, made when it is asked for first."""
    known = {"path": project.worktree, "name": project.name}
    row, made = Workspace.objects.get_or_create(node=node, project=project.id, defaults=known)
    if not made and (row.path, row.name) != (project.worktree, project.name):
        Workspace.objects.filter(pk=row.pk).update(**known)
    return row


def at(node: str, project_id: str) -> Workspace | None:
    return Workspace.objects.filter(node=node, project=project_id).first()


def at_node(node: str) -> list[Workspace]:
    return list(Workspace.objects.filter(node=node).order_by("name", "path"))


def parked(row: Workspace, manifest: Mapping[str, Any], time: int) -> None:
    """A state of it is parked, that of `time` (ms)."""
    Workspace.objects.filter(pk=row.pk).update(parked=dict(manifest), time_parked=time, problem="")


def failed(row: Workspace, problem: str) -> None:
    Workspace.objects.filter(pk=row.pk).update(problem=problem)


HELD, ASKED, PARKED = "held", "asked", "parked"


def move(row: Workspace, step: str) -> None:
    """HELD: no turn begins in it from here on; ASKED: its node is to park it; PARKED: it has; empty: it
    stays where it is."""
    Workspace.objects.filter(pk=row.pk).update(moving=step)


def asked(node: str) -> list[str]:
    """The projects of a node that it is to park: those that a person moves, and those that came to it."""
    rows = Workspace.objects.filter(Q(moving=ASKED) | Q(time_parked=0, problem="", epoch__gt=1), closed=False)
    return list(rows.filter(node=node).values_list("project", flat=True))


def gate(node: str, project_id: str) -> Gate:
    """Whether something may begin in a project at a node."""
    row = at(node, project_id)
    if row is not None and row.closed:
        when = datetime.fromtimestamp(row.time_closed / 1000, UTC)
        return Gate(
            closed=gettext(
                "This project goes on at %(successor)s since %(when)s UTC, so nothing is changed here. "
                "Who wants this copy to go on in its place says so on the page of all machines."
            )
            % {"successor": row.successor, "when": f"{when:%d %b, %H:%M}"}
        )
    if row is not None and row.moving:
        return Gate(waiting=gettext("This project is being moved to another machine."))
    if Node.objects.filter(name=node, draining=True).exists():
        return Gate(
            waiting=gettext("%(node)s finishes what runs and begins nothing more: what is sent waits.")
            % {"node": node}
        )
    return OPEN


def close(row: Workspace, successor: str, time: int) -> bool:
    """It goes on at another node from here on. False where that was decided meanwhile."""
    open_ = Workspace.objects.filter(pk=row.pk, closed=False, epoch=row.epoch)
    return bool(open_.update(closed=True, successor=successor, time_closed=time))


def succeed(row: Workspace, node: str, project: Project) -> None:
    """It goes on at a node, as a project there."""
    of(node, project)
    here = Workspace.objects.filter(node=node, project=project.id)
    here.update(epoch=row.epoch + 1, closed=False, successor="", heir="")
    Workspace.objects.filter(pk=row.pk).update(heir=project.id)


def reopen(row: Workspace) -> None:
    """It goes on here after all."""
    Workspace.objects.filter(pk=row.pk).update(closed=False, successor="", heir="", time_closed=0)


def prefer(row: Workspace) -> None:
    """Of two copies a person wants this one, which is closed, to go on, and the other one to be closed."""
    with transaction.atomic(using=ALIAS):
        other = at(row.successor, row.heir)
        epoch = row.epoch
        if other is not None:
            close(other, row.node, now())
            Workspace.objects.filter(pk=other.pk).update(heir=row.project)
            epoch = other.epoch + 1
        reopen(row)
        Workspace.objects.filter(pk=row.pk).update(epoch=epoch)
