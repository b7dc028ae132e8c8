"""Projects: one row a folder, recognised again when a git repository moved (docs/decisions)."""

from __future__ import annotations

import hashlib
import os
from itertools import islice
from pathlib import Path

from django.db import transaction

from sessions.ids import now
from sessions.models import Project
from sessions.repository import Repository


def open_project(directory: Path) -> Project:
    """The project of a folder, created or updated; raises OSError when the folder cannot be read."""
    repository = Repository.of(directory)
    worktree = str(repository.worktree)
    root_commit = repository.root_commit()
    with transaction.atomic():
        project = Project.objects.filter(worktree=worktree).first() or _moved(repository, root_commit)
        if project is None:
            digest = hashlib.sha1(worktree.encode("utf-8", "surrogateescape"), usedforsecurity=False)
            project = Project(id=digest.hexdigest(), time_created=now())
        project.worktree = worktree
        project.name = project.name or repository.worktree.name
        project.vcs = _vcs(repository)
        project.root_commit = root_commit or project.root_commit
        project.time_updated = now()
        project.save()
    return project


def project_of(directory: Path) -> Project:
    """The project of a folder, opened only when it is new or has become a repository since.

    Raises OSError as `open_project` does. Every request of the API asks, so git is not.
    """
    repository = Repository.of(directory)
    known = Project.objects.filter(worktree=str(repository.worktree), vcs=_vcs(repository)).first()
    return known or open_project(directory)


def _vcs(repository: Repository) -> str:
    return "git" if repository.is_git else ""


def worktree_row(original: Project, folder: Path, branch: str) -> Project:
    """The project of a git worktree made from another's, not saved yet."""
    digest = hashlib.sha1(os.fsencode(folder), usedforsecurity=False).hexdigest()
    return Project(
        id=digest,
        worktree=str(folder),
        name=f"{original.name} ({branch})",
        vcs="git",
        root_commit=original.root_commit,
        worktree_of=original,
        time_created=now(),
        time_updated=now(),
    )


def known_at(folder: str) -> bool:
    """Whether a folder is a project's."""
    return Project.objects.filter(worktree=folder).exists()


def _moved(repository: Repository, root_commit: str) -> Project | None:
    """The project this repository was before somebody moved its folder.

    Only when that folder is gone: two clones side by side share a root commit and stay two projects. A git
    worktree has the root commit of its repository and is neither taken for that one's move nor it for its.
    """
    if not root_commit or repository.is_linked():
        return None
    known = Project.objects.filter(root_commit=root_commit, worktree_of=None)
    for project in known.order_by("-time_updated"):
        if not Path(project.worktree).exists():
            return project
    return None


def recent(limit: int = 20) -> list[Project]:
    """The projects used last, without worktrees that were removed."""
    rows = Project.objects.select_related("worktree_of").order_by("-time_updated")
    there = (row for row in rows.iterator() if row.worktree_of_id is None or Path(row.worktree).is_dir())
    return list(islice(there, limit))


def get(project_id: str) -> Project | None:
    return Project.objects.filter(id=project_id).first()
