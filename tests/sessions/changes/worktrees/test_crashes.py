"""A kill while a worktree is made leaves nothing behind after the next start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.changes.worktrees import forking
from sessions.changes.worktrees.notes import Note, Place, note_of
from sessions.core.db import in_db
from sessions.core.models import Project
from tests.server import ROOT
from tests.sessions.changes.review.world import World
from tests.sessions.changes.worktrees.conftest import git
from tests.sessions.changes.worktrees.test_making import nothing_left


def cut_short(world: World, point: str) -> Path:
    """The folder for worktrees, as a making left it that was killed at a point."""
    home = world.root.parent / "worktrees"
    home.mkdir()
    program = "tests.sessions.changes.worktrees.crashing"
    command = [sys.executable, "-m", program, str(world.root), str(home), point]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ}, check=False, capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    (home / "objects").rename(home.parent / "objects")
    return home


@pytest.mark.parametrize("point", ["before", "add", "copying", "move"])
async def test_the_next_start_takes_away_what_was_half_made(world: World, point: str) -> None:
    home = cut_short(world, point)
    assert len(list(home.glob("*/*.json"))) == 1
    await forking.recover()
    nothing_left(world)
    assert list((home / "project").iterdir()) == []
    await forking.recover()


async def test_a_branch_that_somebody_has_committed_to_stays(world: World) -> None:
    home = cut_short(world, "move")
    (folder,) = (path for path in (home / "project").iterdir() if path.is_dir())
    git(folder, "commit", "-qm", "kept", "--allow-empty")
    await forking.recover()
    assert git(world.root, "branch", "--list", "opencode/*").strip() == f"opencode/{folder.name}"


async def test_one_that_has_its_row_is_whole_and_stays(world: World) -> None:
    home = cut_short(world, "move")
    (folder,) = (path for path in (home / "project").iterdir() if path.is_dir())
    await in_db(Project.objects.create, id="x", worktree=str(folder), time_created=1, time_updated=1)
    await forking.recover()
    assert (folder / "new.txt").exists()
    assert not list(home.glob("*/*.json"))


async def test_one_that_is_being_made_is_left_alone_and_a_torn_note_goes(world: World) -> None:
    folder = world.root.parent / "worktrees" / "project" / "busy"
    place = Place(str(world.root), "0" * 40, "opencode/busy", str(folder), str(folder))
    note = Note(note_of(folder), place)
    folder.mkdir()
    torn = folder.with_name("torn.json")
    torn.write_text('{"repository": ')
    await forking.recover()
    assert folder.exists()
    assert note.path.exists()
    assert not torn.exists()
    note.discard()
    assert not folder.exists()
