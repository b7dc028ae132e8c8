"""Carry out an import: session after session, each read apart and written in one transaction."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from django.db import DataError, IntegrityError, OperationalError

from sessions.db import in_db
from sessions.store import importing
from sessions.store.folders import NotTaken
from sessions.store.importing import Known, Outcome

from .job import Job
from .plan import Choice, Planned, Surveyed, plan
from .progress import Progress
from .reading.records import Conversation, Problem, Source, Unreadable
from .shaping import shape

WRITE_EVERY = 0.4
"""Seconds between two notes of the progress."""

Told = Callable[[Progress, Problem | None], None]
_LEFT = {
    "newer": "was continued here; it stays as it is here",
    "diverged": "was continued here and in OpenCode; it stays as it is here",
    "deleted": "was deleted here; name it to have it back",
    "running": "is at work here; import it again when it has ended",
}


class Import:
    """`tell` hears of each session and of each problem, on the event loop."""

    def __init__(
        self, surveyed: Sequence[Surveyed], choice: Choice, tell: Told, *, dry: bool = False
    ) -> None:
        self._surveyed = surveyed
        self._choice = choice
        self._tell = tell
        self._job = Job()
        self._here: dict[str, Known] = {}
        self._listed = {header.id for one in surveyed for header in one.headers}
        self._noted = 0.0
        self.progress = Progress(dry=dry)

    async def run(self) -> Progress:
        """Returns how it ended; what was imported before a cancellation or failure stays. Raises Busy and
        CannotWrite before anything is done."""
        with self._job.alone():
            try:
                await self._every()
                if self.progress.state == "running":
                    self.progress.state = "done"
            except OperationalError as error:
                self.progress.state, self.progress.error = (
                    "failed",
                    f"The database cannot be written: {error}",
                )
            finally:
                if self.progress.state == "running":
                    self.progress.state = "cancelled"
                for one in self._surveyed:
                    one.source.close()
                self.progress.current = ""
                self._job.write(self.progress)
        return self.progress

    async def _every(self) -> None:
        planned = plan(self._surveyed, self._choice)
        self.progress.total = len(planned)
        self._name_missing(planned)
        self._here = await in_db(importing.known, [item.header.id for item in planned])
        for item in planned:
            if self._job.cancelled():
                self.progress.state = "cancelled"
                return
            self.progress.current = item.header.title
            await self._one(item)
            self.progress.done += 1
            self._note()
        if not self._choice:
            await self._leftovers()

    async def _one(self, item: Planned) -> None:
        where = f"session/{item.header.id}"
        if self._is_here(item):
            self.progress.count("same")
            return
        try:
            read = await asyncio.to_thread(_read, item)
            self._name_orphan(item)
            for problem in read.problems:
                self._name(problem)
            outcome = await self._put(read)
        except (Unreadable, NotTaken) as error:
            self._name(Problem(where, str(error)))
            self.progress.count("unreadable")
        except (IntegrityError, DataError, ValueError, OverflowError) as error:
            self._name(Problem(where, f"the database refuses it: {error}"))
            self.progress.count("unreadable")
        else:
            self.progress.count(outcome)
            self.progress.messages += len(read.entries) if outcome in ("imported", "updated") else 0
            if outcome in _LEFT:
                self._name(Problem(where, _LEFT[outcome]))

    async def _put(self, read: Conversation) -> Outcome:
        wanted = read.info["id"] in self._choice.sessions
        if self.progress.dry:
            ids = {entry["info"]["id"] for entry in read.entries}
            return await in_db(importing.would_be, read.info, ids, deleted_too=wanted)
        return await in_db(
            importing.put,
            read.info,
            read.entries,
            read.todos,
            worktree=read.worktree,
            deleted_too=wanted,
        )

    def _is_here(self, item: Planned) -> bool:
        """By what the list says, so that an import that was interrupted goes on where it stopped."""
        here, header = self._here.get(header_id := item.header.id), item.header
        if here is None or here.deleted or header_id in self._choice.sessions:
            return False
        return here.messages == header.messages and here.updated == header.updated

    def _name_missing(self, planned: Sequence[Planned]) -> None:
        for one in self._surveyed:
            if one.error:
                self._name(Problem(str(one.source.path), one.error))
            for problem in one.source.problems:
                self._name(problem)
        known = {item.header.id for item in planned}
        for session in sorted(self._choice.sessions - known):
            self._name(Problem(f"session/{session}", "is in none of the sources"))

    def _name_orphan(self, item: Planned) -> None:
        parent = item.header.parent
        if parent and parent not in self._listed:
            self._name(Problem(f"session/{item.header.id}", f"its parent {parent[:40]} is missing"))

    async def _leftovers(self) -> None:
        for one in self._surveyed:
            if not one.error:
                for problem in await asyncio.to_thread(_leftovers, one.source, one):
                    self._name(problem)

    def _name(self, problem: Problem) -> None:
        self.progress.name(problem)
        self._tell(self.progress, problem)

    def _note(self) -> None:
        self._tell(self.progress, None)
        if time.monotonic() - self._noted > WRITE_EVERY:
            self._noted = time.monotonic()
            self._job.write(self.progress)


def _read(item: Planned) -> Conversation:
    """In form. A session that was at work gets an earlier time, so that the next import looks again."""
    read = item.source.read(item.header)
    if shape(read):
        read.info["time"]["updated"] -= 1
    return read


def _leftovers(source: Source, one: Surveyed) -> list[Problem]:
    try:
        return list(source.leftovers(one.headers))
    except (Unreadable, OSError) as error:
        return [Problem(str(source.path), str(error))]
