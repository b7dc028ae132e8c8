"""A kill in the middle of a move: after the next start all is where it was, or all has moved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from sessions.core.db import in_db
from sessions.core.models import Operation
from tests.server import ROOT
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.changes.worktrees.conftest import git
from tests.sessions.changes.worktrees.moving_process import POINTS
from tests.sessions.changes.worktrees.test_making import nothing_left
from tests.sessions.changes.worktrees.test_moving import status, worked

STAYS = ("the worktree is being written", "the worktree is whole", "within the transaction")


def run(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Another process with the database and the folders of this one."""
    program = "tests.sessions.changes.worktrees.moving_process"
    database = str(connection.settings_dict["NAME"])
    command = [sys.executable, "-m", program, database, str(world.root.parent), *arguments]
    return subprocess.run(command, cwd=ROOT, env={**os.environ}, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("point", POINTS)
async def test_killed(world: World, point: str) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the other process opens the file of the database")
    session = await worked(world)
    git(world.root, "add", "run.sh")
    before, states = world.state(), status(world.root)
    killed = run(world, "move", session.id, point)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    started = run(world, "start")
    assert started.returncode == 0, started.stderr
    now = await fresh(session)
    assert (now.project_id == world.project.id) == (point in STAYS)
    if point in STAYS:
        assert (world.state(), status(world.root)) == (before, states)
        nothing_left(world)
        assert not await in_db(lambda: Operation.objects.exists())
        return
    folder = Path(now.directory)
    assert status(folder) == states
    assert status(world.root) == []
    assert await in_db(lambda: [row.state for row in Operation.objects.all()]) == ["done"]
    assert not list(folder.parent.glob("*.json"))
    assert run(world, "start").returncode == 0
    assert (status(folder), status(world.root)) == (states, [])
