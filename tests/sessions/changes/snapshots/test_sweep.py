"""A collection takes what nothing reaches, and never anything else."""

from __future__ import annotations

import fcntl
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sessions.changes.snapshots.changes import FULL_LIMIT, STORE_FULL
from sessions.changes.snapshots.objects import ObjectMissing, object_id
from sessions.changes.snapshots.pins import pinned
from sessions.changes.snapshots.repack import PACK_FROM, Stopped
from sessions.changes.snapshots.snapshot import FULL_MARK, SnapshotStore
from sessions.changes.snapshots.sweep import GRACE_SECONDS, Sweep, loose_objects

Git = Callable[..., str]


def never() -> bool:
    return False


def sweep(store: SnapshotStore, named: Iterable[str] = (), grace: float = GRACE_SECONDS) -> int:
    return Sweep(store, set(named), never, grace).run()


def age(root: Path) -> None:
    """Make all objects two grace periods old."""
    for path in (root / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (path.stat().st_mtime - 2 * GRACE_SECONDS,) * 2)


def known(store: SnapshotStore, oid: str) -> bool:
    """Whether a content is there, whole."""
    try:
        return object_id(store.objects.get(oid)) == oid
    except ObjectMissing:
        return False


def test_what_a_power_cut_left_holds_up_nothing(store: SnapshotStore) -> None:
    oids = [store.objects.put(b"%d\n" % number) for number in range(PACK_FROM + 2)]
    for oid, left in zip(oids, (b"", b"x\x9c"), strict=False):
        path = store.root / "objects" / oid[:2] / oid[2:]
        path.chmod(0o600)
        path.write_bytes(left)
    for _ in range(2):
        sweep(store, oids)
    assert len(store.objects.packs.all()) == 1
    assert [known(store, oid) for oid in oids] == [False, False] + [True] * PACK_FROM


def test_what_no_row_names_goes_after_the_grace_period(store: SnapshotStore) -> None:
    named, other = store.objects.put(b"named"), store.objects.put(b"other")
    assert sweep(store, [named]) == 0
    assert known(store, other)
    age(store.root)
    assert sweep(store, [named]) == 1
    assert (known(store, named), known(store, other)) == (True, False)


def test_trees_in_use_stay_and_older_ones_go(store: SnapshotStore, worktree: Path) -> None:
    for number in range(5):
        (worktree / "sub").mkdir(exist_ok=True)
        (worktree / "sub" / "file").write_text(f"{number}\n")
        last = store.track()
    age(store.root)
    assert sweep(store) == 13  # content, two trees, commit of three; the commit of the one before
    (worktree / "sub" / "file").write_text("new\n")
    (change,) = store.changes(last, store.track())
    assert store.objects.get(change.before or "") == b"4\n"
    age(store.root)
    again = SnapshotStore(store.root, worktree)
    sweep(again, [change.before or ""])
    assert again.track() == store.track()


def test_a_tree_that_another_process_may_compare_stays(store: SnapshotStore, worktree: Path) -> None:
    (worktree / "file").write_text("before\n")
    holder, other = SnapshotStore(store.root, worktree), SnapshotStore(store.root, worktree)
    before = holder.track()
    for number in range(3):
        (worktree / "file").write_text(f"{number}\n")
        other.track()
    age(store.root)
    sweep(other)
    (change,) = holder.changes(before, holder.track())
    assert store.objects.get(change.before or "") == b"before\n"
    assert pinned(store.root) >= {before.hash}
    del holder
    gc.collect()
    assert before.hash not in pinned(store.root)
    assert len(list((store.root / "pins").iterdir())) == 1


def test_many_small_contents_become_one_pack(store: SnapshotStore) -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    named = [store.objects.put(f"{number}\n{text}".encode()) for number in range(PACK_FROM)]
    age(store.root)
    dead = store.objects.put(b"nobody wants this, but it is young")
    assert sweep(store, named) == 0
    assert list(loose_objects(store.root)) == []
    assert all(known(store, oid) for oid in [*named, dead])
    (pack,) = store.objects.packs.all()
    age(store.root)
    assert sweep(store, named[: PACK_FROM // 4]) == PACK_FROM - PACK_FROM // 4 + 1
    assert [oid for oid in named if known(store, oid)] == named[: PACK_FROM // 4]
    assert not pack.path.exists()


def test_a_pack_full_of_garbage_goes_as_a_whole(store: SnapshotStore, worktree: Path) -> None:
    for number in range(PACK_FROM):
        (worktree / f"{number}").write_text(f"{number}\n")
    store.track()
    for path in worktree.iterdir():
        path.unlink()
    store.track()
    (worktree / "one").write_text("one\n")
    store.track()
    age(store.root)
    sweep(store)
    assert sum(pack.count for pack in store.objects.packs.all()) < 10
    assert store.changes(store.track(), SnapshotStore(store.root, worktree).track()) == []


def test_contents_named_again_meanwhile_stay(store: SnapshotStore) -> None:
    """The rows were read before; `put` and the removals go on at the same time."""
    contents = [f"content {number}\n".encode() for number in range(600)]
    for content in contents:
        store.objects.put(content)
    age(store.root)
    named: list[str] = []
    chosen = random.Random(2).sample(contents, 300)

    def name() -> None:
        named.extend(SnapshotStore(store.root, store.worktree).objects.put(content) for content in chosen)

    thread = threading.Thread(target=name)
    thread.start()
    removed = sweep(store)
    thread.join()
    assert all(known(store, oid) for oid in named)
    assert removed >= 300
    assert len(named) == 300


def test_the_index_may_move_meanwhile(store: SnapshotStore, worktree: Path) -> None:
    """A file comes to have a content that was garbage when the collection began."""
    content = b"x" * 1000
    oid = store.objects.put(content)
    age(store.root)
    collection = Sweep(store, set(), never)
    plain = collection._remove

    def remove(dead: list[object]) -> None:
        (worktree / "file").write_bytes(content)
        store.track()
        plain(dead)  # type: ignore[arg-type]

    collection._remove = remove  # type: ignore[assignment,method-assign]
    collection.run()
    assert known(store, oid)


def test_it_stops_when_told_and_one_at_a_time(store: SnapshotStore, worktree: Path) -> None:
    oids = [store.objects.put(f"{number}\n".encode()) for number in range(PACK_FROM)]
    calls = iter([False, False, True, True])
    with pytest.raises(Stopped):
        Sweep(store, set(oids), lambda: next(calls)).run()
    with (store.root / "sweep.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Stopped):
            sweep(store)
    assert all(known(store, oid) for oid in oids)
    sweep(store, oids)
    assert all(known(store, oid) for oid in oids)


KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from sessions.changes.snapshots import sweep
from sessions.changes.snapshots.snapshot import SnapshotStore

done, last = 0, int(sys.argv[3])

def step(name):
    global done
    done += 1
    print(name, flush=True)
    if done == last:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(plain, name):
    def call(*arguments, **more):
        step(f"before {name}")
        result = plain(*arguments, **more)
        step(f"after {name}")
        return result
    return call

Path.unlink = counted(Path.unlink, "unlink")
Path.rmdir = counted(Path.rmdir, "rmdir")
sweep.write_pack = counted(sweep.write_pack, "pack")
subprocess.Popen.__init__ = counted(subprocess.Popen.__init__, "git")
store = SnapshotStore(Path(sys.argv[1]), Path(sys.argv[2]))
named = {line.strip() for line in sys.stdin}
sweep.Sweep(store, named, lambda: False).run()
"""


def collected_by_another(
    root: Path, worktree: Path, named: Iterable[str], last: int
) -> tuple[int, list[str]]:
    """Exit status, and the steps up to the one at which it was killed."""
    argv = [sys.executable, "-c", KILLED, str(root), str(worktree), str(last)]
    done = subprocess.run(argv, input="\n".join(named), check=False, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, done.stdout.split("\n")[:-1]


@pytest.mark.long
def test_killed_anywhere_nothing_is_lost(store: SnapshotStore, worktree: Path, tmp_path: Path) -> None:
    (worktree / "file").write_text("in the tree\n")
    tree = store.track()
    named = [store.objects.put(f"named {number}\n".encode()) for number in range(50)]
    packed = [store.objects.put(f"packed {number}\n".encode()) for number in range(PACK_FROM)]
    sweep(store, [*named, *packed])  # into one pack, of which most is garbage from here on
    named += [store.objects.put(f"loose {number}\n".encode()) for number in range(5)]
    for number in range(5):
        store.objects.put(f"garbage {number}\n".encode())
    age(store.root)
    shutil.copytree(store.root, tmp_path / "whole")
    status, steps = collected_by_another(tmp_path / "whole", worktree, named, 0)
    assert status == 0
    assert {"after unlink", "after pack", "after git", "after rmdir"} <= set(steps)
    points = [at + 1 for at, name in enumerate(steps) if name != "before git"]
    for point in points[:: max(1, len(points) // 12)]:
        shutil.rmtree(tmp_path / "cut", ignore_errors=True)
        shutil.copytree(store.root, tmp_path / "cut")
        status, _ = collected_by_another(tmp_path / "cut", worktree, named, point)
        assert status == -signal.SIGKILL
        cut = SnapshotStore(tmp_path / "cut", worktree)
        assert all(known(cut, oid) for oid in named), f"killed at {point}: {steps[point - 1]}"
        assert cut.track() == tree
        age(cut.root)
        sweep(cut, named)
        assert all(known(cut, oid) for oid in named)
        assert not any(known(cut, oid) for oid in packed)
        assert not list((cut.root / "objects").rglob("tmp_*"))


def test_the_users_repository_is_left_alone(store: SnapshotStore, repository: Path, git: Git) -> None:
    git("gc", "-q")
    packs = {path: path.stat().st_mtime_ns for path in (repository / ".git" / "objects").rglob("*")}
    (repository / "kept.txt").write_text("changed\n")
    store.track()
    age(store.root)
    sweep(store)
    assert {path: path.stat().st_mtime_ns for path in (repository / ".git" / "objects").rglob("*")} == packs
    assert git("fsck", "--strict") == ""


def test_a_full_store_takes_no_new_large_files(store: SnapshotStore, repository: Path) -> None:
    (repository / "old.bin").write_bytes(b"x" * (FULL_LIMIT + 1))
    before = store.track()
    (store.root.parent / FULL_MARK).touch()
    assert store.track() == before
    (repository / "large.bin").write_bytes(b"y" * (FULL_LIMIT + 1))
    (repository / "old.bin").write_bytes(b"z" * (FULL_LIMIT + 1))
    (repository / "small.txt").write_text("kept\n")
    full = store.track()
    found = {change.path: change for change in store.changes(before, full)}
    assert {path: change.skipped for path, change in found.items()} == {
        "large.bin": STORE_FULL,
        "old.bin": STORE_FULL,
        "small.txt": None,
    }
    assert store.objects.get(found["old.bin"].before or "") == b"x" * (FULL_LIMIT + 1)
    (store.root.parent / FULL_MARK).unlink()
    assert store.track().skipped == ()
