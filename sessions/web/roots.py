"""The folders whose files a page shows: that of its project, and those beside it that its session has.

A path in the project is relative to its worktree, one in another folder is whole: as seen from a session
(sessions.changes.roots).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.above import agents
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.models.ledger import unpack_path
from sessions.core.store.added_folders import AddedFolder, holding
from sessions.web.access import find_session, project_of

READ_ONLY = gettext_noop("It is in a folder that was added for reading only.")


@dataclass(frozen=True, slots=True)
class Root:
    """`folder` is None for the project itself."""

    path: Path
    folder: AddedFolder | None = None

    @property
    def name(self) -> str:
        """Empty for the project's."""
        return self.folder.name if self.folder else ""

    @property
    def locked(self) -> str:
        """Why nothing is written there, empty where it may be."""
        return "" if self.folder is None or self.folder.write else gettext(READ_ONLY)

    def holds(self, path: str) -> bool:
        """Whether a path as seen from the session lies in it."""
        return self.folder.holds(Path(path)) if self.folder else not os.path.isabs(path)

    def inner(self, path: str) -> str:
        """One that lies in it, from there."""
        return os.path.relpath(path, self.path) if self.folder else path

    def seen(self, path: str | Path) -> str:
        """A path from there, as seen from the session."""
        whole = self.path / path
        return str(whole) if self.folder else str(path)


class Named(NamedTuple):
    """The file that a request names; `path` as seen from the session, which reads the same from its root."""

    project: Project
    session: Session | None
    root: Root
    path: str


def roots(project: Project, session: Session | None) -> Sequence[Root]:
    """The project's first. Blocks."""
    found = agents().folders(project, session)
    return [Root(Path(project.worktree)), *(Root(folder.path, folder) for folder in found)]


def root_of(project: Project, session: Session | None, path: str) -> Root:
    """The one that a path lies in, the project's for a path that lies in none. Blocks."""
    own = Root(Path(project.worktree))
    if not os.path.isabs(path) or Path(path).is_relative_to(own.path):
        return own
    folder = holding(agents().folders(project, session), Path(path))
    return Root(folder.path, folder) if folder else own


async def beside(project: Project, session: Session | None) -> Collection[Path]:
    """Where the folders beside it lie that may be written."""
    found = await asyncio.to_thread(agents().folders, project, session)
    return tuple(folder.path for folder in found if folder.write)


async def named(project_id: str, given: Mapping[str, str]) -> Named:
    """By `path` and `session` of a request. Raises Http404."""
    project = await project_of(project_id)
    session_id = given.get("session", "")
    session = await in_db(find_session, project_id, session_id) if session_id else None
    path = unpack_path(given.get("path", ""))
    return Named(project, session, await asyncio.to_thread(root_of, project, session, path), path)
