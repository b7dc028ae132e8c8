"""Begin the attempts of comparisons: a git worktree for each, a session in it, the task in its inbox.

All that an attempt begins with is in the rows at once, or not at all: a worktree that was made and is in no
row is taken away again, by whoever made it or by the next start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.utils.translation.trans_null import gettext_noop

from agents.config.trust.store import TrustStore
from sessions.changes.worktrees.making import CannotFork, Made
from sessions.changes.worktrees.opening import open_worktree
from sessions.core.db import in_db
from sessions.core.models import Attempt, Project, Session
from sessions.core.store import comparisons, projects
from sessions.core.store.inbox import PromptRefused

logger = logging.getLogger(__name__)

UNKNOWN = gettext_noop("An internal error kept it from being begun; the log has the details.")
_NAME = 24
"""Characters of the task in the names of folders and branches."""


async def begin_waiting(owner: str, goes_on: Callable[[], bool], call_in: Callable[[str], None]) -> None:
    """Begin all that may begin now, one after the other, as the worker `owner`, as long as it `goes_on`. Each
    session that is there then is to be called in."""
    await in_db(comparisons.settle_orphans)
    while goes_on() and (attempt := await in_db(comparisons.claim, owner)) is not None:
        try:
            if session := await _begin(attempt):
                call_in(session.id)
        except (CannotFork, PromptRefused) as problem:
            await in_db(comparisons.fail, attempt, str(problem))
        except Exception:
            logger.exception("attempt %s of %s could not be begun", attempt.number, attempt.comparison_id)
            await in_db(comparisons.fail, attempt, UNKNOWN)


async def _begin(attempt: Attempt) -> Session | None:
    """Raises CannotFork and PromptRefused."""
    comparison = attempt.comparison
    project, original, taken = await in_db(_places, comparison.project_id)
    name = f"{comparison.prompt[:_NAME]} {attempt.number}"
    top = Path(project.worktree)
    made = await asyncio.to_thread(open_worktree, original.id, top, name, taken, commit=comparison.commit)
    await asyncio.to_thread(TrustStore(Path(settings.TRUST_FILE)).grant_alike, top, made.folder)
    return await _kept(attempt, original, made)


async def _kept(attempt: Attempt, original: Project, made: Made) -> Session | None:
    row = projects.worktree_row(original, made.folder, made.branch)
    directory = made.folder / attempt.comparison.folder
    parts = [{"type": "text", "text": attempt.comparison.prompt}]
    session = None
    try:
        await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        session = await in_db(comparisons.begun, attempt, row, str(directory), parts)
    finally:
        there = session is not None or await in_db(projects.known_at, row.worktree)
        await asyncio.to_thread(made.note.close if there else made.note.discard)
    return session


def _places(project_id: str) -> tuple[Project, Project, set[str]]:
    """A project, that whose worktrees it is among, and the names that worktrees of it have."""
    project = Project.objects.select_related("worktree_of").get(id=project_id)
    original = project.worktree_of or project
    return project, original, projects.worktree_names(original)
