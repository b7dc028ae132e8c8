"""The plan file of a session: an ordinary Markdown file that plan mode may write (seed 004 §8.2, §8.6)."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from sessions.models import Session

IN_REPOSITORY = Path(".opencode", "plans")
MOST_BYTES = 512 * 1024

APPROVE, KEEP_PLANNING = "Yes", "No"
"""The answers to the question of `plan_exit`."""


def plan_path(session: Session) -> Path:
    """Where the session's plan is, whether or not it was written: in the repository, so that it can be
    committed, else in our data directory. The name is the session's own."""
    in_repository = session.project.vcs == "git"
    folder = Path(session.project.worktree) / IN_REPOSITORY if in_repository else Path(settings.PLAN_DIR)
    return folder / f"{session.time_created}-{session.slug}.md"


def shown_path(session: Session) -> str:
    """The same for people and models: from the root of the project where it lies within."""
    path, root = plan_path(session), Path(session.project.worktree)
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def plan_text(session: Session) -> str:
    """What the plan says; empty when there is none. A longer one is cut after MOST_BYTES."""
    path = plan_path(session)
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
