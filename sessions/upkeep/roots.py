"""Which contents of a project's store rows can still reach: what an undo, a redo or a page may ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from sessions.models import FileChange, Operation, PermissionRequest, Project, StagedFile

_ADDRESS = re.compile(r"\b[0-9a-f]{40}\b")


def named(project_id: str) -> set[str]:
    """The addresses that rows name, of sessions deleted as well as long as these can be restored; runs on
    the ORM's thread. A project and the worktrees made from it may name each other's.

    Contents wander from requests to staged edits to the ledger: read in this order, none is missed.
    """
    projects = _family(project_id)
    found: set[str] = set()
    asked = PermissionRequest.objects.filter(session__project_id__in=projects, state="pending")
    found |= _anywhere(asked.values_list("metadata", "replacement"))
    staged = StagedFile.objects.filter(session__project_id__in=projects)
    for row in staged.values_list("base", "content").iterator():
        found.update(row)
    operations = Operation.objects.filter(project_id__in=projects)
    found |= _anywhere(operations.values_list("outcome", "hunks", "scope").iterator())
    changes = FileChange.objects.filter(project_id__in=projects)
    for row in changes.values_list("before", "after").iterator():
        found.update(row)
    return found - {""}


def _family(project_id: str) -> set[str]:
    parents = Project.objects.filter(id=project_id).exclude(worktree_of=None)
    heads = {project_id, *parents.values_list("worktree_of_id", flat=True)}
    kin = Project.objects.filter(Q(id__in=heads) | Q(worktree_of_id__in=heads))
    return {project_id, *kin.values_list("id", flat=True)}


def _anywhere(rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """Whatever looks like an address in columns of JSON: too much costs room, too little a content."""
    return {oid for row in rows for oid in _ADDRESS.findall(json.dumps(row))}
