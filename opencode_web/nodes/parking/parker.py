"""Parks the state of a project after each of its turns, beside the work and never in its way.

What failed is said in the workspace's row and in the log, and done again after the next turn.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from opencode_web.nodes import workspaces
from opencode_web.nodes.models import Workspace
from opencode_web.nodes.parking import manifest as manifests
from opencode_web.nodes.parking.bundle import State, standing, write_history
from opencode_web.nodes.parking.manifest import LONGEST_CHAIN, Manifest
from opencode_web.nodes.parking.place import Place, Unavailable
from sessions.changes.snapshots.changes import SnapshotError
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.tracking import tracker
from sessions.changes.upkeep import caretaker
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.git import GitError
from sessions.core.ids import now
from sessions.core.models import Project
from sessions.core.store import projects

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
KEPT_MS = 14 * 24 * 3600 * 1000
"""How long states are kept; the last ones always are."""
_MOST_LEFT_OUT = 200


class Parker:
    """One a node."""

    def __init__(self, node: str, place: Place) -> None:
        self._node = node
        self._place = place
        self._due: dict[str, str] = {}
        self._rung = asyncio.Event()

    def ask(self, project_id: str, session_id: str = "") -> None:
        """Park a project soon; from the loop on which it runs."""
        self._due[project_id] = session_id
        self._rung.set()

    async def run(self) -> None:
        """For as long as the node lives."""
        listening = [asyncio.create_task(work()) for work in (self._hear, self._look_for_moves)]
        try:
            await self._ask_what_was_missed()
            while True:
                await self._rung.wait()
                self._rung.clear()
                while self._due:
                    project_id, session_id = self._due.popitem()
                    await self._one(project_id, session_id)
        finally:
            for task in listening:
                task.cancel()

    async def _hear(self) -> None:
        while True:
            async with bus.subscribe(wants=lambda event: event.type == "session.idle") as mailbox:
                while not mailbox.overflowed:
                    for event in await mailbox.take():
                        self.ask(event.project_id, event.session_id)

    async def _look_for_moves(self) -> None:
        while True:
            with suppress(DatabaseError, InterfaceError):
                for project_id in await in_db(workspaces.asked, self._node):
                    self.ask(project_id)
            await asyncio.sleep(LOOK_SECONDS)

    async def _ask_what_was_missed(self) -> None:
        """Turns that ended while nobody listened."""
        try:
            for project_id in await in_db(self._behind):
                self.ask(project_id)
        except (DatabaseError, InterfaceError):
            logger.exception("what was not parked yet is not known")

    def _behind(self) -> list[str]:
        parked = {row.project: row.time_parked for row in workspaces.at_node(self._node)}
        every = projects.listed()
        return [row.id for row in every if projects.went_on(row, parked.get(row.id, 0))]

    async def _one(self, project_id: str, session_id: str) -> None:
        try:
            project = await in_db(projects.get, project_id)
            if project is not None:
                await self.park(project, session_id)
        except Exception:
            logger.exception("project %s could not be parked", project_id)

    async def park(self, project: Project, session_id: str = "") -> Workspace | None:
        """Its workspace, with the state of this moment parked; None where that failed, as the row says."""
        row = await in_db(workspaces.of, self._node, project)
        if row.closed:
            return None
        try:
            made = await self._park(row, project, session_id)
        except (SnapshotError, GitError, Unavailable, OSError) as error:
            problem = str(error)[:500]
            logger.warning("%s could not be parked: %s", project.worktree, problem)
            await in_db(workspaces.failed, row, problem)
            return None
        time = now() if made is None else made.time
        await in_db(workspaces.parked, row, row.parked if made is None else made.json(), time)
        if row.moving:
            await in_db(workspaces.move, row, workspaces.PARKED)
        return await in_db(workspaces.at, self._node, project.id)

    async def _park(self, row: Workspace, project: Project, session_id: str) -> Manifest | None:
        """None where nothing changed since the state that is parked."""
        own, time = await asyncio.to_thread(tracker, project), now()
        tree = await asyncio.to_thread(own.look)
        if tree is None:
            raise SnapshotError(own.problem or "no snapshot of it can be taken")
        named = await in_db(caretaker.named, project.id)
        draft = Manifest(
            node=self._node,
            project=project.id,
            path=project.worktree,
            time=time,
            chain=time,
            tree=tree.hash,
            left_out=[skipped.path for skipped in tree.skipped][:_MOST_LEFT_OUT],
            session=session_id,
            epoch=row.epoch,
        )
        return await asyncio.to_thread(self._send, draft, row.parked, own.objects, named)

    def _send(
        self, draft: Manifest, parked: Mapping[str, Any], objects: ObjectStore, named: set[str]
    ) -> Manifest | None:
        worktree, root = Path(draft.path), Path(settings.PARKED_DIR) / draft.project
        state = State(root, objects, worktree)
        draft = replace(draft, **asdict(standing(worktree)))
        before = self._before(parked)
        tree = state.tree(draft.tree, named)
        if before and state.tree_of(before.commit) == tree and before.stands_as(draft):
            return None
        with _scratch(root) as folder:
            bundle, history = folder / "bundle", folder / "history"
            made = _bundled(state, bundle, tree, before, draft)
            if draft.head:
                known = [before.head, *before.heads.values()] if before and made.chain < made.time else []
                made = replace(made, history=write_history(history, worktree, filter(None, known)))
                if made.history:
                    self._place.put(made.commits, history)
            self._place.put(made.bundle, bundle)
        manifests.write(self._place, made)
        if made.chain == made.time:
            manifests.forget(self._place, made.node, made.project, made.time - KEPT_MS)
        return made

    def _before(self, parked: Mapping[str, Any]) -> Manifest | None:
        """The state that the next one stands on; None where that one begins a chain."""
        if not parked:
            return None
        before = Manifest(**parked)
        there = manifests.moments(self._place, before.node, before.project)
        times = [moment.time for moment in there if moment.chain == before.chain]
        return before if before.time in times and len(times) < LONGEST_CHAIN else None


def _bundled(state: State, target: Path, tree: str, before: Manifest | None, draft: Manifest) -> Manifest:
    """With its bundle written. Where what it would stand on is gone from here, it stands on nothing."""
    if before and state.tree_of(before.commit):
        commit = state.commit(tree, before.commit, draft.time)
        try:
            state.write(target, commit, before.commit)
            return replace(draft, commit=commit, chain=before.chain)
        except GitError as error:
            logger.info("the states of %s begin anew: %s", draft.path, error)
    commit = state.commit(tree, "", draft.time)
    state.write(target, commit, "")
    return replace(draft, commit=commit)


@contextmanager
def _scratch(root: Path) -> Iterator[Path]:
    """A folder for what is sent; what an end in the middle left is removed with it."""
    for left in root.glob("sent-*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="sent-", dir=root, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
