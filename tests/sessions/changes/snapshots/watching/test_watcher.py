"""A look that trusts events must find what a look at everything finds."""

from __future__ import annotations

import gc
import math
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.changes.snapshots import snapshot
from sessions.changes.snapshots.changes import Tree
from sessions.changes.snapshots.snapshot import SnapshotStore
from sessions.changes.snapshots.watching import recall, watcher
from sessions.core.git import GitError
from sessions.core.platform import inotify
from sessions.core.platform.inotify import Inotify
from sessions.core.platform.mounts import tells_all

Git = Callable[..., str]
NAMES = ("a", "b", "c.log", "deep", "übrig", "\udcff")
RULES = ("*.log\n", "deep/\n", "/b\n!c.log\n", "", "a/*\n!a/b\n")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The `git status` that were run, by the paths they were asked for."""
    asked: list[tuple[str, ...]] = []
    plain = SnapshotStore._status

    def status(self: SnapshotStore, paths: tuple[str, ...], *more: str) -> bytes:
        given = tuple(paths)
        if not more:
            asked.append(given)
        return plain(self, given, *more)

    monkeypatch.setattr(SnapshotStore, "_status", status)
    return asked


def unwatched(root: Path, worktree: Path) -> SnapshotStore:
    """A store that has git look at everything each time."""
    store = SnapshotStore(root, worktree)
    store._recall._refused_until = math.inf
    return store


@pytest.mark.proc
def test_nothing_happened_costs_no_process(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = store.track()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    (repository / "kept.txt").read_bytes()
    list(repository.rglob("*"))
    assert store.track() is first


@pytest.mark.proc
def test_only_what_changed_is_looked_at(
    store: SnapshotStore, repository: Path, looks: list[tuple[str, ...]]
) -> None:
    (repository / "big.bin").write_bytes(b"x" * (2 * 1024 * 1024 + 1))
    before = store.track()
    (repository / "kept.txt").write_text("new\n")
    after = store.track()
    assert looks[-1] == ("kept.txt",)
    assert after.skipped == before.skipped != ()
    assert [change.path for change in store.changes(before, after)] == ["kept.txt"]
    (repository / "big.bin").unlink()
    assert store.track() == replace(after, skipped=())


@pytest.mark.proc
def test_a_folder_that_came_is_watched_whatever_number_the_lock_has(
    store: SnapshotStore, repository: Path, looks: list[tuple[str, ...]]
) -> None:
    with ExitStack() as files:
        for _ in range(30):
            files.enter_context(open(os.devnull))
        store.track()  # its lock has a number that is free afterwards
    (repository / "new").mkdir()
    (repository / "new" / "file").write_text("one\n")
    before = store.track()
    (repository / "new" / "file").write_text("three\n")
    after = store.track()
    assert [change.path for change in store.changes(before, after)] == ["new/file"]
    assert looks[-2:] == [("new",), ("new/file",)], "each look was where something happened"


@pytest.mark.proc
def test_where_git_does_not_say_what_it_ignores_everything_is_looked_at(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.track()
    (repository / "new").mkdir()
    (repository / "new" / "file").write_text("one\n")

    def fail(*_: object) -> set[str]:
        monkeypatch.undo()
        raise GitError("no")

    monkeypatch.setattr(snapshot, "ignored_folders", fail)
    before = store.track()
    (repository / "new" / "file").write_text("three\n")
    assert [change.path for change in store.changes(before, store.track())] == ["new/file"]


@pytest.mark.long
def test_random_histories(repository: Path, git: Git, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "data", repository)
    plain = unwatched(tmp_path / "plain", repository)
    outside = tmp_path / "outside"
    git("clone", "-q", str(repository), str(outside / "library"))
    for seed in range(6):
        chance = random.Random(seed)
        for _ in range(25):
            for _ in range(chance.randint(0, 4)):
                disturb(repository, outside, git, chance)
            assert store.track() == plain.track(), f"seed {seed}"


def disturb(root: Path, outside: Path, git: Git, chance: random.Random) -> None:
    """One thing that a person or a command does to files."""
    folders = [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]
    parts = {path: path.relative_to(root).parts for path in folders}
    inside = [path for path in folders if ".git" not in parts[path] and len(parts[path]) < 5]
    folder = chance.choice(inside)
    path = folder / chance.choice(NAMES)
    here = os.path.lexists(path)
    is_folder = here and path.is_dir() and not path.is_symlink()
    action = chance.choice(("write", "write", "append", "remove", "folder", "move", "out", "in", "other"))
    if action in ("write", "append") and not is_folder:
        path.unlink(missing_ok=True) if path.is_symlink() else None
        path.open("a" if action == "append" else "w").write(f"{chance.random()}\n")
    elif action == "remove" and here:
        shutil.rmtree(path) if is_folder else path.unlink()
    elif action == "folder" and not here:
        (path / chance.choice(NAMES)).mkdir(parents=True)
        (path / "file").write_text("in a new folder\n")
    elif action == "move" and here:
        target = chance.choice(inside) / f"moved{chance.randint(0, 3)}"
        if not target.exists() and not target.is_relative_to(path):
            path.rename(target)
    elif action == "out" and is_folder and not (outside / path.name).exists():
        path.rename(outside / path.name)
    elif action == "in" and (outside / path.name).exists() and not here:
        (outside / path.name).rename(path)
    elif action == "other":
        oddity(root, path, outside / "library", chance)


def oddity(root: Path, path: Path, library: Path, chance: random.Random) -> None:
    match chance.randint(0, 7):
        case 0:
            (path.parent / ".gitignore").write_text(chance.choice(RULES))
        case 1:
            (root / ".git" / "info" / "exclude").write_text(chance.choice(RULES))
        case 2 if not os.path.lexists(path):
            path.symlink_to(root)
        case 3 if path.is_file():
            path.chmod(0o755 if chance.random() < 0.5 else 0o644)
        case 4 if not os.path.lexists(path):
            shutil.copytree(library, path)
        case 5 if (path / ".git").is_dir():
            shutil.rmtree(path / ".git")
        case 6 if not os.path.lexists(path):
            path.mkdir()
            (path / ".git").mkdir()
            (path / "in").write_text("not in a repository\n")
        case 7 if path.is_file() and not path.with_name("replaced").is_dir():
            os.replace(path, path.with_name("replaced"))


@pytest.mark.proc
def test_a_lost_queue_is_made_good(
    store: SnapshotStore, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worktree / "a").write_text("a")
    store.track()
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    folder = worktree / "many"
    folder.mkdir()
    store.track()
    for number in range(limit // 4 + 1):  # each makes more than four events
        (folder / "one").write_text(f"{number}")
        (folder / "one").unlink()
    (worktree / "late").write_text("in no event any more")
    (worktree / "new").mkdir()
    (worktree / "new" / "file").write_text("new")
    assert {change.path for change in store.changes(Tree(store.track().hash), store.track())} == set()
    before = store.track()
    (worktree / "new" / "file").write_text("seen again")
    assert [change.path for change in store.changes(before, store.track())] == ["new/file"]


@pytest.mark.parametrize("why", ["no inotify", "no watches left", "too many folders", "network"])
def test_where_nothing_can_be_watched_git_looks_each_time(
    why: str, store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch, looks: list[object]
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    if why == "no inotify":
        monkeypatch.setattr(watcher, "Inotify", fail)
    elif why == "no watches left":
        monkeypatch.setattr(Inotify, "add", fail)
    elif why == "too many folders":
        monkeypatch.setattr(watcher, "MOST_FOLDERS", 1)
    else:
        monkeypatch.setattr(watcher, "tells_all", lambda _: False)
    before = store.track()
    assert store.track() == before
    (repository / "kept.txt").write_text("new\n")
    assert [change.path for change in store.changes(before, store.track())] == ["kept.txt"]
    assert looks == [(), (), ()]


def test_running_out_of_watches_on_the_way(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.track()
    monkeypatch.setattr(watcher, "MOST_FOLDERS", 3)
    for name in ("x", "y", "z"):
        (repository / name).mkdir()
        (repository / name / "file").write_text(name)
    found = store.changes(before, store.track())
    assert [change.path for change in found] == ["x/file", "y/file", "z/file"]
    before = store.track()
    (repository / "z" / "file").write_text("again")
    assert [change.path for change in store.changes(before, store.track())] == ["z/file"]


def test_a_root_that_was_replaced(store: SnapshotStore, worktree: Path, tmp_path: Path) -> None:
    (worktree / "a").write_text("a")
    before = store.track()
    worktree.rename(tmp_path / "old")
    worktree.mkdir()
    (worktree / "b").write_text("b")
    assert [change.path for change in store.changes(before, store.track())] == ["a", "b"]
    before = store.track()
    (tmp_path / "old" / "a").write_text("elsewhere")
    (worktree / "c").write_text("c")
    assert [change.path for change in store.changes(before, store.track())] == ["c"]


def test_another_process_moved_the_index(
    store: SnapshotStore, repository: Path, looks: list[tuple[str, ...]]
) -> None:
    store.track()
    (repository / "kept.txt").write_text("new\n")
    other = SnapshotStore(store.root, repository).track()
    assert store.track() == other
    assert looks[-1] == ()


def test_now_and_then_everything_is_looked_at(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch, looks: list[tuple[str, ...]]
) -> None:
    monkeypatch.setattr(recall, "TRUSTED_SECONDS", 0.0)
    store.track()
    store.track()
    assert looks == [(), ()]


@pytest.mark.proc
def test_folders_are_watched_only_where_git_looks(
    repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".gitignore").write_text("build/\nkeep/*\n!keep/this/\n")
    for name in ("build/deep", "keep/this", "keep/not", "library/src", "src/build/x", "forced/build"):
        (repository / name).mkdir(parents=True)
        (repository / name / "file").write_text("x")
    git("init", "-q", cwd=repository / "library")
    git("add", "-f", "forced/build/file")
    watched: set[str] = set()
    plain = Inotify.add

    def add(self: Inotify, folder: str) -> int:
        watched.add(os.path.relpath(folder, repository))
        return plain(self, folder)

    monkeypatch.setattr(Inotify, "add", add)
    store = SnapshotStore(repository.parent / "data", repository)
    before = store.track()
    assert watched == {
        ".",
        "folder",
        "keep",
        "keep/this",
        "library",
        "library/src",
        "src",
        "forced",
        "forced/build",
    }
    (repository / "forced" / "build" / "file").write_text("changed")
    assert [change.path for change in store.changes(before, store.track())] == ["forced/build/file"]


def test_file_systems_that_do_not_tell(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"

    def mounted(*lines: tuple[str, str]) -> None:
        text = "".join(f"1 0 8:1 / {point} rw shared:1 - {kind} none rw\n" for point, kind in lines)
        mounts.write_text(text)

    mounted(("/", "ext4"), ("/home/me/my\\040code", "fuse.sshfs"), ("/srv", "nfs4"), ("/srv", "ext4"))
    assert tells_all(Path("/home/me/code"), mounts)
    assert not tells_all(Path("/home/me/my code/thing"), mounts)
    assert not tells_all(Path("/home/me"), mounts)
    assert tells_all(Path("/srv/www"), mounts)
    mounted(("/", "9p"), ("/home", "xfs"))
    assert not tells_all(Path("/etc"), mounts)
    assert tells_all(Path("/home/me"), mounts)
    mounts.write_text("not what the kernel writes\n")
    assert not tells_all(Path("/home"), mounts)
    assert not tells_all(Path("/home"), tmp_path / "missing")


def instances() -> int:
    """How many inotify instances this process holds."""
    links = (os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
    return sum(os.path.lexists(link) and "inotify" in os.readlink(link) for link in links)


@pytest.mark.proc
def test_one_instance_for_all_worktrees_given_back_when_idle(tmp_path: Path) -> None:
    gc.collect()
    inotify.release_idle()
    assert instances() == 0
    folders = [tmp_path / f"{number}" for number in range(5)]
    for folder in folders:
        (folder / "inner").mkdir(parents=True)
    watchers = [watcher.Watcher(folder, lambda _: set()) for folder in [*folders, tmp_path, folders[0]]]
    assert instances() == 1
    (folders[0] / "inner" / "file").write_text("told to three")
    told = [each.changed() for each in watchers]
    assert told == [{"inner/file"}, set(), set(), set(), set(), {"0/inner/file"}, {"inner/file"}]
    del watchers[-1]
    gc.collect()
    (folders[0] / "inner" / "file").write_text("the others still are")
    assert watchers[0].changed() == {"inner/file"}
    assert watchers[5].changed() == {"0/inner/file"}
    inotify.release_idle(3600)
    assert instances() == 1
    inotify.release_idle()
    assert instances() == 0
    (folders[1] / "unseen").write_text("")
    for each in watchers:
        with pytest.raises(watcher.Lost):
            each.changed()
    again = watcher.Watcher(folders[1], lambda _: set())
    (folders[1] / "seen").write_text("")
    assert again.changed() == {"seen"}
    del again
    gc.collect()
    assert instances() == 0  # the others are there, and watch nothing


@pytest.mark.proc
def test_one_that_is_not_asked_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "_MOST_EVENTS", 10)
    busy, asked = tmp_path / "busy", tmp_path / "asked"
    busy.mkdir()
    asked.mkdir()
    silent, asking = (watcher.Watcher(folder, lambda _: set()) for folder in (busy, asked))
    for number in range(20):
        (busy / f"{number}").write_text("")
    assert asking.changed() == set()
    with pytest.raises(watcher.Lost):
        silent.changed()


@pytest.mark.proc
def test_what_could_not_be_watched_is_tried_again(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch, looks: list[object]
) -> None:
    def fail(*_: object) -> int:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(watcher, "Inotify", fail)
        store.track()
    monkeypatch.setattr(recall, "RETRY_SECONDS", 0.0)
    store._recall._refused_until = 0.0
    first = store.track()
    assert store.track() is first
    assert looks == [(), ()]
