"""A project of another node goes on at this one: its folder as parked, its conversations from its rows.

Only ever because a person says so, who was shown what is newer than that state.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext

from opencode_web.nodes import registry, rows, workspaces
from opencode_web.nodes.elsewhere import in_rows_of
from opencode_web.nodes.models import Workspace
from opencode_web.nodes.parking import manifest as manifests
from opencode_web.nodes.parking.bundle import lay, unpack
from opencode_web.nodes.parking.manifest import Manifest
from opencode_web.nodes.parking.place import Place, Unavailable
from opencode_web.nodes.rows import Differs, Newer
from opencode_web.nodes.settling import settle
from sessions.changes.snapshots.objects import ObjectStore
from sessions.core.db import in_db
from sessions.core.git import GitError, run_git
from sessions.core.ids import now
from sessions.core.models import Project
from sessions.core.store import projects

logger = logging.getLogger(__name__)

CLONE_SECONDS = 600
MOVE_SECONDS = 60.0
_SCRATCH, _OBJECTS = ".opencode-web-restored", "objects.git"
_LOOK_SECONDS, _ENDING_LOOKS = 0.2, 10


class NotRestored(Exception):
    """It goes on where it was; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What would be restored: a state, what its conversations have that is newer, and what is parked of other
    moments (ms, the newest first). `lives`: its node is there, so that it is moved as it is now."""

    workspace: Workspace
    lives: bool
    state: Manifest
    newer: Sequence[Newer]
    times: Sequence[int]


async def offer(node: str, project_id: str, at: int = 0) -> Offer:
    """The state of a moment (ms), or the one before it; 0: the newest. Raises NotRestored."""
    row = await in_db(workspaces.at, node, project_id)
    if row is None or node == settings.NODE:
        raise NotRestored(
            gettext("no project %(project)s of another machine %(node)s is known")
            % {"project": project_id, "node": node}
        )
    if row.closed:
        raise NotRestored(
            gettext("%(path)s of %(node)s went on at %(successor)s already")
            % {"path": row.path, "node": node, "successor": row.successor}
        )
    place = _place()
    try:
        parked = await asyncio.to_thread(manifests.moments, place, node, project_id)
        fit = [moment for moment in parked if not at or moment.time <= at]
        if not fit:
            raise NotRestored(
                (
                    gettext("nothing is parked of %(path)s before that moment")
                    if at
                    else gettext("nothing is parked of %(path)s")
                )
                % {"path": row.path}
            )
        state = await asyncio.to_thread(manifests.read, place, node, project_id, fit[-1])
    except Unavailable as problem:
        raise NotRestored(str(problem)) from problem
    lives = node in {other.name for other in await in_db(registry.nodes) if other.lives}
    newer = await in_rows_of(node, rows.newer, project_id, state.time)
    return Offer(row, lives, state, newer, [moment.time for moment in reversed(parked)])


@dataclass(frozen=True, slots=True)
class Restored:
    """What it is here; `without` is why it came without its repository, if it did."""

    project: Project
    without: str = ""


async def restore(offered: Offer, folder: Path) -> Restored:
    """Have the project of an offer go on here, in a new folder; a node that lives parks it as it is now and
    closes it. Raises NotRestored, with nothing changed."""
    row = offered.workspace
    _require_free(folder)
    made = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        state = await _parked_now(row) if offered.lives else offered.state
        await settle(row.node)
        await _require_ended(row)
        without = await asyncio.to_thread(_build, _place(), state, made)
        return Restored(await _take_over(row, state, made, folder), without)
    except (Unavailable, GitError, OSError, Differs) as problem:
        raise NotRestored(str(problem)) from problem
    finally:
        await asyncio.to_thread(shutil.rmtree, made, True)
        if offered.lives:
            await in_db(workspaces.move, row, "")


async def _take_over(row: Workspace, state: Manifest, made: Path, folder: Path) -> Project:
    """From here on its node changes nothing, also where it comes back; unless this fails."""
    if not await in_db(workspaces.close, row, settings.NODE, now()):
        raise NotRestored(gettext("somebody else has just decided where it goes on"))
    try:
        await asyncio.to_thread(made.rename, folder)
        project = await in_db(projects.open_project, folder)
        await asyncio.to_thread(_keep, project)
        await in_db(rows.copy, row.node, row.project, row.path, project, state.time)
        await in_db(workspaces.succeed, row, settings.NODE, project)
    except BaseException:
        await in_db(workspaces.reopen, row)
        with suppress(FileNotFoundError):
            await asyncio.to_thread(folder.rename, made)
        raise
    logger.info("%s of %s goes on here in %s", row.path, row.node, folder)
    return project


async def _require_ended(row: Workspace) -> None:
    """One that has just ended gives its lease back a moment later. Raises NotRestored."""
    for _ in range(_ENDING_LOOKS):
        if not await in_rows_of(row.node, rows.running, row.project):
            return
        await asyncio.sleep(_LOOK_SECONDS)
    raise NotRestored(gettext("a turn runs in it: stop it, or wait until it has ended"))


async def _parked_now(row: Workspace) -> Manifest:
    """The state that its node parks when it is asked to; no turn begins there from then on."""
    await in_db(workspaces.move, row, workspaces.HELD)
    await _require_ended(row)
    await in_db(workspaces.move, row, workspaces.ASKED)
    try:
        async with asyncio.timeout(MOVE_SECONDS):
            while True:
                found = await in_db(workspaces.at, row.node, row.project)
                if found is None or found.problem:
                    raise NotRestored(found.problem if found else gettext("it is gone"))
                if found.moving == workspaces.PARKED:
                    return Manifest(**found.parked)
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise NotRestored(
            gettext("%(node)s did not park it within %(seconds)s seconds")
            % {"node": row.node, "seconds": f"{MOVE_SECONDS:.0f}"}
        ) from None


def _place() -> Place:
    if not settings.PARK:
        raise NotRestored(
            gettext("no place is known where states are parked: set OPENCODE_WEB_PARK here, too")
        )
    return Place(settings.PARK)


def _require_free(folder: Path) -> None:
    if not folder.is_absolute() or folder.name in ("", ".."):
        raise NotRestored(gettext("%(folder)s is no path of a folder") % {"folder": folder})
    if not folder.parent.is_dir():
        raise NotRestored(gettext("there is no folder %(parent)s") % {"parent": folder.parent})
    if os.path.lexists(folder):
        raise NotRestored(gettext("%(folder)s is there already: name another folder") % {"folder": folder})


def _build(place: Place, state: Manifest, folder: Path) -> str:
    """A folder with the files of a state and, as far as it can be had, its repository; why it could not."""
    folder.mkdir()
    scratch = folder / _SCRATCH
    scratch.mkdir()
    files, histories = [], []
    for number, one in enumerate(_chain(place, state)):
        files.append(scratch / f"{number}.bundle")
        place.fetch(one.bundle, files[-1])
        if one.history:
            histories.append(scratch / f"{number}.history")
            place.fetch(one.commits, histories[-1])
    store = ObjectStore(scratch / _OBJECTS)
    unpack(store, files)
    without = _repository(state, folder, histories) if state.head else ""
    lay(store, state.tree, folder)
    return without


def _chain(place: Place, state: Manifest) -> list[Manifest]:
    """The states that one stands on, and itself."""
    there = manifests.moments(place, state.node, state.project)
    its = (moment for moment in there if moment.chain == state.chain and moment.time <= state.time)
    return [manifests.read(place, state.node, state.project, moment) for moment in its]


def _repository(state: Manifest, folder: Path, histories: Sequence[Path]) -> str:
    """Cloned from the remote, with the commits that only the other node had; why that could not be done."""
    run_git(["init", "-q", "-b", state.branch or "main"], cwd=folder)
    try:
        unreached = _fetch(folder, state.remote) if state.remote else ""
        for bundle in histories:
            run_git(["bundle", "unbundle", os.fspath(bundle)], cwd=folder)
        for branch, commit in state.heads.items():
            _branch(folder, branch, commit)
        if not state.branch:
            run_git(["update-ref", "--no-deref", "HEAD", state.head], cwd=folder)
        run_git(["read-tree", "HEAD"], cwd=folder)
        for path in state.left_out:
            _from_repository(folder, path)
    except GitError as problem:
        shutil.rmtree(folder / ".git")
        return unreached or str(problem)
    return ""


def _branch(folder: Path, branch: str, commit: str) -> None:
    try:
        run_git(["update-ref", f"refs/heads/{branch}", commit], cwd=folder)
    except GitError:
        logger.info("the branch %s of %s is not restored: its commit is at its remote alone", branch, folder)


def _fetch(folder: Path, remote: str) -> str:
    """With the person's own configuration of git, which knows how its hosts are signed in to, and without a
    terminal to ask at. Why it could not be reached."""
    run_git(["remote", "add", "--", "origin", remote], cwd=folder)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    asked = {**environ, "GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    command = ["git", "fetch", "-q", "origin"]
    try:
        done = subprocess.run(
            command, cwd=folder, env=asked, capture_output=True, text=True, timeout=CLONE_SECONDS, check=False
        )
    except (subprocess.SubprocessError, OSError) as error:
        return gettext("the remote %(remote)s could not be asked: %(error)s") % {
            "remote": remote,
            "error": error,
        }
    return (
        gettext("the remote %(remote)s cannot be reached: %(error)s")
        % {"remote": remote, "error": done.stderr.strip()[:300]}
        if done.returncode
        else ""
    )


def _from_repository(folder: Path, path: str) -> None:
    """A file that no snapshot has as the repository has it, if it does."""
    try:
        run_git(["checkout", "-q", "HEAD", "--", path], cwd=folder)
    except GitError:
        logger.info("%s of %s is not restored: no snapshot has it, and the repository neither", path, folder)


def _keep(project: Project) -> None:
    """Move what was fetched to the snapshots of the project, where undo looks for it."""
    scratch = Path(project.worktree) / _SCRATCH
    packs = ObjectStore(Path(settings.SNAPSHOT_DIR) / project.id).git_dir / "objects" / "pack"
    found = (scratch / _OBJECTS / "objects" / "pack").iterdir()
    for path in sorted(found, key=lambda path: path.suffix == ".idx"):  # without it a pack is not looked into
        shutil.move(path, packs / path.name)
    shutil.rmtree(scratch)
