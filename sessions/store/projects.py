"""Projects: one row a folder, recognised again when a git repository moved (docs/decisions)."""

from __future__ import annotations

import hashlib
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
        project = Project.objects.filter(worktree=worktree).first() or _moved(root_commit)
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


def _moved(root_commit: str) -> Project | None:
    """The project this repository was before somebody moved its folder.

    Only when that folder is gone: two clones side by side share a root commit and stay two projects.
    """
    if not root_commit:
        return None
    for project in Project.objects.filter(root_commit=root_commit).order_by("-time_updated"):
        if not Path(project.worktree).exists():
            return project
    return None


def recent(limit: int = 20) -> list[Project]:
    return list(Project.objects.order_by("-time_updated")[:limit])


def get(project_id: str) -> Project | None:
    return Project.objects.filter(id=project_id).first()
