"""A file that is staged and written again within one second, as long as it was: git compares whole seconds,
and knows by the time of its index that it has to read the file. So must who works on a copy of the index.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sessions.changes import vcs
from sessions.changes.git import stash
from sessions.changes.git.command import Git
from sessions.changes.snapshots.snapshot import SnapshotStore
from tests.sessions.changes.git.conftest import git

STAGED, WRITTEN = "one\ntwo\n", "ONE\ntwo\n"


@pytest.fixture
def racy(tmp_path: Path) -> Path:
    """A repository with such a file, in a second that is over."""
    top = tmp_path / "racy"
    (top / "folder").mkdir(parents=True)
    (top / "folder" / "other.txt").write_text("other\n")
    (top / "a.txt").write_text(STAGED)
    git(top, "init", "-q", "-b", "main")
    git(top, "config", "user.name", "t")
    git(top, "config", "user.email", "t@localhost")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return written_at_once(top)


def written_at_once(top: Path) -> Path:
    file, index = top / "a.txt", top / ".git" / "index"
    seconds: set[int] = set()
    while len(seconds) != 1:
        file.write_text(STAGED)
        seconds = {int(file.stat().st_mtime)}
        git(top, "add", "a.txt")
        file.write_text(WRITTEN)
        seconds |= {int(index.stat().st_mtime), int(file.stat().st_ctime)}
    while time.time() < max(seconds) + 1:
        pass
    return top


@pytest.mark.parametrize("index", ["plain", "left out", "split"])
def test_a_first_snapshot_has_it_as_it_is(racy: Path, tmp_path: Path, index: str) -> None:
    if index == "left out":  # the copy is written anew without it
        git(racy, "update-index", "--assume-unchanged", "folder/other.txt")
        written_at_once(racy)
    elif index == "split":
        git(racy, "update-index", "--split-index")
        written_at_once(racy)
    store = SnapshotStore(tmp_path / "snapshots", racy)
    before = store.track()
    (racy / "a.txt").write_text("third\n")
    (change,) = store.changes(before, store.track())
    assert change.before is not None
    assert store.objects.get(change.before) == WRITTEN.encode()


@pytest.mark.parametrize("new", [False, True])
def test_its_change_is_shown(racy: Path, new: bool) -> None:
    if new:
        (racy / "new.txt").write_text("new\n")
    found = vcs.changes(vcs.Checkout(racy), "HEAD", racy)
    assert [change.path for change in found] == ["a.txt", *["new.txt"] * new]


def test_it_is_in_what_is_kept_of_the_files(racy: Path) -> None:
    commit = stash.keep(Git(racy), "kept")
    assert git(racy, "show", f"{commit}:a.txt") == WRITTEN
