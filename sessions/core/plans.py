"""The plan file of a session: an ordinary Markdown file that plan mode and the person may write."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings

from sessions.core import confined
from sessions.core.files import replace_file
from sessions.core.models import Session

IN_REPOSITORY = Path(".opencode", "plans")
MOST_BYTES = 512 * 1024

APPROVE, KEEP_PLANNING = "Yes", "No"
"""The answers to the question of `plan_exit`."""


class PlanChanged(Exception):
    """The plan is no longer the one that was seen."""


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


def is_plan(path: str) -> bool:
    """Whether a path of a project is that of some session's plan."""
    return Path(path).parent == IN_REPOSITORY


def plan_title(text: str) -> str:
    """What a plan's first heading calls it; empty without one."""
    headings = (line.strip("# \t") for line in text.splitlines() if line.startswith("#"))
    return next(filter(None, headings), "")


def plan_text(session: Session) -> str:
    """What the plan says; empty when there is none. A longer one is cut after MOST_BYTES."""
    return plan_source(session).strip()


def plan_source(session: Session) -> str:
    """The same with the lines as its file counts them."""
    path = plan_path(session)
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def read_plan(session: Session) -> str:
    """The plan as it stands in its file. Raises OSError, and UnicodeDecodeError for what is no text."""
    path = plan_path(session)
    in_repository = session.project.vcs == "git"
    within = confined.real_path(Path(session.project.worktree) if in_repository else path.parent)
    return confined.read_whole(path, within, MOST_BYTES).decode()


def write_plan(session: Session, text: str, seen: str) -> None:
    """Put `text` in the place of the plan whose version is `seen`; empty: of any. Raises PlanChanged, and as
    `read_plan`."""
    if version(read_plan(session)) != seen and seen:
        raise PlanChanged
    replace_file(confined.real_path(plan_path(session)), text.encode())


def version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
