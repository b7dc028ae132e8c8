from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opencode_web.nodes.parking.bundle import State, lay, standing, unpack, without_password, write_history
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.snapshot import SnapshotStore


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "kept.txt").write_bytes(b"kept\r\n")
    (folder / "gone.txt").write_text("gone\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "First")
    return folder


def found_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (
            path.readlink().as_posix().encode() if path.is_symlink() else path.read_bytes(),
            path.lstat().st_mode & 0o111,
        )
        for path in folder.rglob("*")
        if ".git" not in path.relative_to(folder).parts and (path.is_symlink() or path.is_file())
    }


def test_a_folder_is_laid_from_bundles_that_stand_on_one_another(tmp_path: Path, worktree: Path) -> None:
    snapshots = SnapshotStore(tmp_path / "snapshots", worktree)
    earlier = snapshots.objects.put(b"what an undo needs")
    bundles, before = [], ""
    for number in range(3):
        (worktree / f"new-{number}").write_bytes(bytes(range(256)) * (number + 1))
        (worktree / "gone.txt").unlink(missing_ok=True)
        (worktree / "run.sh").write_text(f"echo {number}\n")
        (worktree / "run.sh").chmod(0o755)
        tree = snapshots.track()
        state = State(tmp_path / "commits", snapshots.objects, worktree)
        made = state.commit(state.tree(tree.hash, {earlier, "0" * 40}), before, 1_000 * number)
        bundles.append(tmp_path / f"{number}.bundle")
        state.write(bundles[-1], made, before)
        before = made
    (worktree / "link").symlink_to("kept.txt")

    there = ObjectStore(tmp_path / "there")
    unpack(there, bundles)
    folder = tmp_path / "laid"
    folder.mkdir()
    lay(there, tree.hash, folder)
    (worktree / "link").unlink()
    assert found_in(folder) == found_in(worktree)
    assert there.get(earlier) == b"what an undo needs"


def test_a_bundle_has_what_is_new_alone(tmp_path: Path, worktree: Path) -> None:
    (worktree / "large").write_bytes(bytes(range(256)) * 4000)
    snapshots = SnapshotStore(tmp_path / "snapshots", worktree)
    state = State(tmp_path / "commits", snapshots.objects, worktree)
    first = state.commit(state.tree(snapshots.track().hash, ()), "", 0)
    (worktree / "small").write_text("small")
    second = state.commit(state.tree(snapshots.track().hash, ()), first, 0)
    target = tmp_path / "bundle"
    state.write(target, second, first)
    assert target.stat().st_size < 1000


def test_the_commits_that_no_remote_has(tmp_path: Path, worktree: Path) -> None:
    assert standing(tmp_path) == standing(tmp_path / "nowhere")
    target = tmp_path / "history"
    assert write_history(target, worktree, [])
    head = standing(worktree).head
    git(tmp_path, "clone", "-q", "--bare", str(worktree), "remote.git")
    git(worktree, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(worktree, "fetch", "-q", "origin")
    assert not write_history(target, worktree, [])
    (worktree / "kept.txt").write_text("other")
    git(worktree, "commit", "-q", "-a", "-m", "Second")
    found = standing(worktree)
    assert (found.remote, found.branch) == (str(tmp_path / "remote.git"), "main")
    assert found.heads == {"main": found.head}
    assert found.head != head
    assert write_history(target, worktree, [])
    assert not write_history(target, worktree, [found.head])


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:word@example.com/a.git", "https://example.com/a.git"),
        ("https://example.com/a.git", "https://example.com/a.git"),
        ("git@example.com:a/b.git", "git@example.com:a/b.git"),
        ("/folder/a.git", "/folder/a.git"),
    ],
)
def test_no_password_is_parked(address: str, shown: str) -> None:
    assert without_password(address) == shown
