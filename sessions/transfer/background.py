"""An import that a page began: it goes on when the page is closed, and ends with the server's process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from sessions.core.sentences import Sentence, sentence_of
from sessions.transfer.importing import Import
from sessions.transfer.job import Job, Progress
from sessions.transfer.plan import Choice, Surveyed

logger = logging.getLogger(__name__)

_tasks: set[asyncio.Task[None]] = set()


async def begin(surveyed: Sequence[Surveyed], choice: Choice, *, copies: bool = False) -> None:
    """`copies` as for `Import`. Return when it has begun, or cannot. Raises Busy, CannotWrite."""
    job = Job()
    with job.alone():
        job.write(Progress())
    work = Import(surveyed, choice, lambda _progress, _problem: None, copies=copies)
    task = asyncio.create_task(_run(work))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    await asyncio.sleep(0)  # it has the lock when it first waits


async def _run(work: Import) -> None:
    try:
        await work.run()
    except Exception as error:
        logger.exception("the import failed")
        work.progress.state, work.progress.error = "failed", sentence_of(error)
        Job().write(work.progress)


def state() -> tuple[Progress | None, bool]:
    """The progress of the import that runs or ran last, and whether it runs; one that says it runs and does
    not was cut short with its process."""
    job = Job()
    progress, runs = job.progress(), job.runs()
    if progress is not None and progress.state == "running" and not runs:
        progress = job.progress() or progress  # it may have ended between the two looks
        if progress.state == "running":
            progress.state, progress.error = "failed", Sentence("It was interrupted when the server ended.")
    return progress, runs
