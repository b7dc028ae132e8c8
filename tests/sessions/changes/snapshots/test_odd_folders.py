"""A command runs in a folder of every odd kind: what it did is seen, and undone byte for byte."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.snapshot import SnapshotStore
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import plan_undo
from sessions.core.platform.mounts import tells_all

Git = Callable[..., str]
Make = Callable[[Path, Git, Path], Path]

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def picture(root: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder but `.git`: permissions and content, of a link its target. No folders where the
    system does not tell of new ones."""
    found, told = {}, tells_all(root.resolve())
    for path in sorted(root.rglob("*")):
        name = os.fsdecode(path.relative_to(root))
        if ".git" in Path(name).parts:
            continue
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) and not told:
            continue
        content = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else b""
        found[name] = (mode, path.read_bytes() if stat.S_ISREG(mode) else content)
    return found


def plain(place: Path, git: Git, elsewhere: Path) -> Path:
    shutil.rmtree(place / ".git")
    return place


def linked_worktree(place: Path, git: Git, elsewhere: Path) -> Path:
    git("worktree", "add", "-q", str(elsewhere / "linked"))
    return elsewhere / "linked"


def sparse(place: Path, git: Git, elsewhere: Path) -> Path:
    (place / "away").mkdir()
    (place / "away" / "file").write_text("kept away\n")
    git("add", "-A")
    git("commit", "-q", "-m", "more")
    git("sparse-checkout", "set", "--cone", "folder")
    assert not (place / "away").exists()
    return place


def subfolder(place: Path, git: Git, elsewhere: Path) -> Path:
    shutil.copytree(place / "folder", place / "sub" / "folder")
    shutil.copy(place / "kept.txt", place / "sub" / "kept.txt")
    return place / "sub"


def submodule(place: Path, git: Git, elsewhere: Path) -> Path:
    git("clone", "-q", str(place), str(elsewhere / "library"))
    git("submodule", "add", "-q", str(elsewhere / "library"), "library")
    git("commit", "-q", "-m", "submodule")
    return place / "library"


def around_a_submodule(place: Path, git: Git, elsewhere: Path) -> Path:
    submodule(place, git, elsewhere)
    return place


def nested(place: Path, git: Git, elsewhere: Path) -> Path:
    git("clone", "-q", str(place), str(place / "nested"))
    return place


def crlf(place: Path, git: Git, elsewhere: Path) -> Path:
    git("config", "core.autocrlf", "true")
    (place / ".gitattributes").write_text("* text=auto\n*.txt eol=crlf\n")
    (place / "kept.txt").write_bytes(b"one\r\ntwo\r\n")
    os.utime(place / "kept.txt", (1, 1))  # git believes its index only of files that are older
    git("add", "-A")
    return place


def lfs(place: Path, git: Git, elsewhere: Path) -> Path:
    for step in ("clean", "smudge", "process"):
        git("config", f"filter.lfs.{step}", f"touch {elsewhere}/ran; exit 1")
    git("config", "filter.lfs.required", "true")
    (place / ".gitattributes").write_text("*.txt filter=lfs diff=lfs merge=lfs -text\n")
    (place / "kept.txt").write_bytes(POINTER)
    return place


def ignoring_case(place: Path, git: Git, elsewhere: Path) -> Path:
    git("config", "core.ignorecase", "true")
    (place / "KEPT.txt").write_text("another file on this disk\n")
    return place


def two_cases(place: Path, git: Git, elsewhere: Path) -> Path:
    (place / "KEPT.txt").write_text("another file\n")
    (place / "Folder").mkdir()
    (place / "Folder" / "deep.txt").write_text("another folder\n")
    git("add", "-A")
    return place


def odd_names(place: Path, git: Git, elsewhere: Path) -> Path:
    (place / "\udcff\udcfe").mkdir()
    (place / "\udcff\udcfe" / "caf\udce9.txt").write_bytes(b"caf\xe9\r\n\x00\xff")
    (place / "line\nbreak").write_text("x")
    return place


def left_lock(place: Path, git: Git, elsewhere: Path) -> Path:
    (place / ".git" / "index.lock").write_bytes(b"")
    return place


def read_only_git(place: Path, git: Git, elsewhere: Path) -> Path:
    for path in [place / ".git", *(place / ".git").rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    return place


def alternates(place: Path, git: Git, elsewhere: Path) -> Path:
    git("clone", "-q", "--shared", str(place), str(elsewhere / "borrower"))
    assert (elsewhere / "borrower" / ".git" / "objects" / "info" / "alternates").exists()
    return elsewhere / "borrower"


def links(place: Path, git: Git, elsewhere: Path) -> Path:
    (elsewhere / "outside").mkdir()
    (elsewhere / "outside" / "secret").write_text("never followed\n")
    (place / "out").symlink_to(elsewhere / "outside")
    (place / "lost").symlink_to("nowhere")
    return place


def dirty(place: Path, git: Git, elsewhere: Path) -> Path:
    (place / "kept.txt").write_text("changed and not committed\n")
    git("add", "kept.txt")
    (place / "kept.txt").write_text("and changed again\n")
    return place


KINDS: tuple[Make, ...] = (
    plain,
    linked_worktree,
    sparse,
    subfolder,
    submodule,
    around_a_submodule,
    nested,
    crlf,
    lfs,
    ignoring_case,
    two_cases,
    odd_names,
    left_lock,
    read_only_git,
    alternates,
    links,
    dirty,
)


def command(place: Path) -> None:
    """Changes, makes, removes, moves files; makes folders, links and executables."""
    (place / "kept.txt").write_bytes(b"written\r\nby a command\n\xff")
    (place / "folder" / "deep.txt").rename(place / "moved.txt")
    (place / "new" / "sub").mkdir(parents=True)
    (place / "new" / "sub" / "file").write_text("new\n")
    (place / "run").write_text("#!/bin/sh\n")
    (place / "run").chmod(0o755)
    (place / "link").symlink_to("kept.txt")
    for odd in [
        *place.glob("KEPT.txt"),
        *place.glob("\udcff*/*"),
        *place.glob("out"),
        *place.glob("Folder/*"),
    ]:
        odd.unlink()


def undo(changes: list[Change], store: SnapshotStore, place: Path) -> None:
    plan = plan_undo(changes, store.objects, place)
    assert {file.outcome for file in plan} == {"restore"}
    assert apply(plan, place, store.objects).failed == ()


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_command_is_undone(make: Make, repository: Path, git: Git, tmp_path: Path) -> None:
    place = make(repository, git, tmp_path)
    store = SnapshotStore(tmp_path / "data" / "store", place)
    before, seen = store.track(), picture(place)
    command(place)
    after, left = store.track(), picture(place)
    changes = store.changes(before, after)
    assert {change.path for change in changes} == differing(seen, left)
    undo(changes, store, place)
    assert picture(place) == seen
    assert not (tmp_path / "ran").exists()
    again = store.changes(after, store.track())
    undo(again, store, place)
    assert picture(place) == left


def differing(one: dict[str, tuple[int, bytes]], other: dict[str, tuple[int, bytes]]) -> set[str]:
    """Files that differ; folders are no content."""
    names = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    return {name for name in names if not stat.S_ISDIR((one.get(name) or other[name])[0])}


def test_the_users_locks_are_left(repository: Path, git: Git, tmp_path: Path) -> None:
    place = left_lock(repository, git, tmp_path)
    store = SnapshotStore(tmp_path / "data" / "store", place)
    store.track()
    command(place)
    store.track()
    assert (place / ".git" / "index.lock").read_bytes() == b""


@pytest.mark.proc
def test_empty_folders(store: SnapshotStore, repository: Path) -> None:
    """git knows none: those a command made go with its files, one it removed does not come back."""
    (repository / "mine").mkdir()
    (repository / "gone").mkdir()
    before = store.track()
    (repository / "made" / "deep").mkdir(parents=True)
    (repository / "made" / "deep" / "file").write_text("x")
    (repository / "mine" / "file").write_text("x")
    (repository / "gone").rmdir()
    (repository / "lone").mkdir()
    changes = store.changes(before, store.track())
    assert {change.path: change.new_folders for change in changes} == {"made/deep/file": 2, "mine/file": 0}
    undo(changes, store, repository)
    assert {path.name for path in repository.iterdir() if path.is_dir()} == {".git", "folder", "mine", "lone"}


@pytest.mark.long
@pytest.mark.slow
def test_a_hundred_thousand_files(tmp_path: Path, git: Git, worktree: Path) -> None:
    for folder in range(1000):
        (worktree / f"{folder}").mkdir()
        for number in range(100):
            (worktree / f"{folder}" / f"{number}").write_bytes(b"%d %d\n" % (folder, number))
    store = SnapshotStore(tmp_path / "data" / "store", worktree)
    before = store.track()
    shutil.rmtree(worktree / "7")
    (worktree / "8" / "8").write_text("changed\n")
    changes = store.changes(before, store.track())
    assert len(changes) == 101
    undo(changes, store, worktree)
    assert store.track().hash == before.hash
    assert sum(path.is_file() for path in store.root.rglob("*")) < 2000
