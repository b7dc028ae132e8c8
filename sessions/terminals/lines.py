"""A line of the shell in a terminal: an action of a project, and what is run in a new worktree."""

from __future__ import annotations

import logging
from pathlib import Path

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.terminals.registry import CannotOpen, terminals
from sessions.terminals.shapes import PtyCreate
from sessions.terminals.shells import default_shell, login_arguments
from sessions.terminals.terminal import Terminal

log = logging.getLogger(__name__)


async def run_line(
    project_id: str, directory: Path, line: str, title: str, *, cwd: Path | None = None
) -> Terminal:
    """By the person's shell, in a new terminal of a folder. Raises CannotOpen."""
    shell = default_shell()
    arguments = [*login_arguments(shell), "-c", line]
    wanted = PtyCreate(command=shell, args=arguments, cwd=str(cwd) if cwd else None, title=title)
    return await terminals.open(project_id, directory, wanted)


def running(directory: Path, line: str, title: str) -> Terminal | None:
    """The one in which a line of that title runs in a folder."""
    known = (one for one in terminals.of(directory) if one.exit_code is None and one.title == title)
    return next((one for one in known if one.arguments[-1:] == [line]), None)


async def start_up(project_id: str, directory: str = "", more: str = "") -> str:
    """Run in a new worktree what its project says is to be run there (`Project.commands`), and `more`; the
    terminal is one of `directory`, which may be a folder in it. Why it could not be begun, in words; empty
    where it was, or where there is nothing to run."""
    folder, start = await in_db(_start, project_id)
    if not (line := "\n".join(filter(None, (start, more)))):
        return ""
    try:
        await run_line(project_id, Path(directory or folder), line, "Start", cwd=Path(folder))
    except CannotOpen as problem:
        log.warning("what is to be run in the new worktree %s was not begun: %s", folder, problem)
        return str(problem)
    return ""


def _start(project_id: str) -> tuple[str, str]:
    row = Project.objects.select_related("worktree_of").get(id=project_id)
    original = row.worktree_of or row
    return row.worktree, str(original.commands.get("start") or "").strip()
