"""The projects of sessions from elsewhere: by the folder they were held in, which need not be there."""

from __future__ import annotations

import os
from pathlib import Path

from sessions.core.ids import now
from sessions.core.models import Project
from sessions.core.text import wellformed

from . import projects


class NotTaken(ValueError):
    """A session that the store refuses; the text says why."""


def project_for(directory: str, worktree: str = "", moment: int = 0) -> Project:
    """The project of a folder that a session was held in; it may be gone, and was used last at a moment (ms)
    then. Raises NotTaken."""
    if not os.path.isabs(directory) or "\0" in directory:
        raise NotTaken(f"its folder {directory[:200]!r} is no path of this system")
    if Path(directory) == Path("/"):
        raise NotTaken("its folder is the whole file system, which is no project here")
    for folder in filter(None, (directory, worktree)):
        if os.path.isabs(folder) and Path(folder) != Path("/") and os.path.isdir(folder):
            try:
                return projects.project_of(Path(folder))
            except OSError:
                continue
    kept = worktree if os.path.isabs(worktree) and worktree != "/" else directory
    return _absent(wellformed(kept), moment or now())


def _absent(folder: str, moment: int) -> Project:
    """So that its sessions can be read; it becomes an ordinary one when the folder is there again."""
    values = {
        "id": projects.free_id(folder),
        "name": Path(folder).name,
        "time_created": moment,
        "time_updated": moment,
    }
    return Project.objects.get_or_create(worktree=folder, defaults=values)[0]
