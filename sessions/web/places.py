"""Which folder a request of this page is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import QueryDict

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import projects
from sessions.web.access import find_project, find_session, project_of


@dataclass(frozen=True, slots=True)
class Place:
    """A project and its folder; without a project the folder that was opened."""

    project: Project | None
    directory: Path

    @property
    def id(self) -> str:
        return self.project.id if self.project else ""


async def place_of(fields: QueryDict) -> Place:
    """By `project`, and for the folder of one of its sessions by `session`. Raises Http404."""
    named = fields.get("project", "")
    if not named:
        directory = Path(settings.OPENED_DIRECTORY or Path.cwd())
        return Place(await in_db(_known, directory), directory)
    project = await project_of(named)
    session = await in_db(find_session, named, fields.get("session", ""))
    return Place(project, Path(session.directory if session else project.worktree))


def _known(directory: Path) -> Project | None:
    """The project of a folder, if it was ever opened."""
    try:
        return find_project(projects.project_of(directory, look=True).id)
    except OSError:
        return None
