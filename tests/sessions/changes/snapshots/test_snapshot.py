from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.changes.snapshots import snapshot
from sessions.changes.snapshots.changes import (
    IGNORED,
    LOST,
    NESTED,
    REPOSITORY,
    TOO_LARGE,
    Change,
    SnapshotError,
)
from sessions.changes.snapshots.project import find_project_git
from sessions.changes.snapshots.snapshot import SnapshotStore, refusal
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import plan_undo

Git = Callable[..., str]
Edit = Callable[[], object]
FILES = ("kept.txt", "folder/deep.txt")
MODES = (0o400, 0o444, 0o600, 0o640, 0o644, 0o664, 0o666, 0o700, 0o755, 0o4755)


def changed(store: SnapshotStore, edit: Edit) -> dict[str, Change]:
    before = store.track()
    edit()
    return {change.path: change for change in store.changes(before, store.track())}


def contents(store: SnapshotStore, change: Change) -> tuple[bytes | None, bytes | None]:
    before, after = (store.objects.get(oid) if oid else None for oid in (change.before, change.after))
    return before, after


def fingerprint(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Content, mode and modification time of all that is in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (hashlib.sha256(content).hexdigest(), seen.st_mode, seen.st_mtime_ns)
    return found


def test_a_plain_folder(store: SnapshotStore, worktree: Path) -> None:
    (worktree / "old").write_bytes(b"old\r\n")

    def edit() -> None:
        (worktree / "old").unlink()
        (worktree / "sub").mkdir()
        (worktree / "sub" / "new").write_bytes(b"new\r\n")

    found = changed(store, edit)
    assert list(found) == ["old", "sub/new"]
    assert contents(store, found["old"]) == (b"old\r\n", None)
    assert contents(store, found["sub/new"]) == (None, b"new\r\n")
    assert found["sub/new"].mode_after == 0o100644
    assert found["sub/new"].mode_before is None
    assert not (worktree / ".git").exists()


def test_the_users_repository_is_not_touched(store: SnapshotStore, repository: Path, git: Git) -> None:
    (repository / "staged.txt").write_text("staged\n")
    git("add", "staged.txt")
    known = fingerprint(repository / ".git")

    def edit() -> None:
        (repository / "kept.txt").write_text("mine\n")
        (repository / "twin.txt").write_text("deep\n")  # content the user's repository has already
        (repository / "new.txt").write_text("new\n")

    found = changed(store, edit)
    assert set(found) == {"kept.txt", "twin.txt", "new.txt"}
    assert contents(store, found["kept.txt"]) == (b"one\ntwo\n", b"mine\n")
    assert fingerprint(repository / ".git") == known


def test_what_is_named_outlives_the_users_repository(
    store: SnapshotStore, repository: Path, git: Git, tmp_path: Path
) -> None:
    git("gc", "-q")
    found = changed(store, lambda: (repository / "kept.txt").unlink())
    (repository / ".git").rename(tmp_path / "gone")
    assert store.objects.get(found["kept.txt"].before or "") == b"one\ntwo\n"


def test_content_that_was_lost_is_said_to_be(store: SnapshotStore, repository: Path, tmp_path: Path) -> None:
    before = store.track()
    (repository / ".git").rename(tmp_path / "gone")
    (repository / "kept.txt").write_text("changed\n")
    git, change = store.changes(before, store.track())
    assert (git.path, git.skipped) == (".git", REPOSITORY)
    assert (change.path, change.before, change.skipped) == ("kept.txt", None, LOST)


def test_ignored_files_are_left_out(store: SnapshotStore, repository: Path) -> None:
    def edit() -> None:
        (repository / ".gitignore").write_text("*.log\nbuild/\n")
        (repository / ".git" / "info" / "exclude").write_text("private\n")
        (repository / "build").mkdir()
        for name in ("a.log", "build/out", "private", "seen"):
            (repository / name).write_text("x")

    (repository / ".git" / "info").mkdir(exist_ok=True)
    assert set(changed(store, edit)) == {".gitignore", "seen"}


def test_the_users_global_ignore_file_counts(
    store: SnapshotStore, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "excludes").write_text("*.swp\n")
    (tmp_path / "gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path}/excludes\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))

    def edit() -> None:
        (worktree / "a.swp").write_text("x")
        (worktree / "a.txt").write_text("x")

    assert set(changed(store, edit)) == {"a.txt"}


def test_large_files_are_skipped_and_said_to_be(store: SnapshotStore, repository: Path, git: Git) -> None:
    large = b"x" * (2 * 1024 * 1024 + 1)
    (repository / "tracked.bin").write_bytes(large)
    git("add", "tracked.bin")
    assert [(skipped.path, skipped.reason) for skipped in store.track().skipped] == [
        ("tracked.bin", TOO_LARGE)
    ]

    def edit() -> None:
        (repository / "kept.txt").write_bytes(large)
        (repository / "new.bin").write_bytes(large)
        (repository / "tracked.bin").write_bytes(large + b"y")

    found = changed(store, edit)
    assert {path: change.skipped for path, change in found.items()} == dict.fromkeys(
        ("kept.txt", "new.bin", "tracked.bin"), TOO_LARGE
    )
    assert contents(store, found["kept.txt"]) == (b"one\ntwo\n", None)
    shrunk = changed(store, lambda: (repository / "new.bin").write_text("small"))
    assert (shrunk["new.bin"].before, shrunk["new.bin"].skipped) == (None, TOO_LARGE)
    assert changed(store, lambda: None) == {}


def test_links_modes_and_types(store: SnapshotStore, worktree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    (worktree / "run").write_text("#!/bin/sh\n")
    (worktree / "turns").mkdir()
    (worktree / "turns" / "file").write_text("in a folder\n")

    def edit() -> None:
        (worktree / "run").chmod(0o755)
        (worktree / "link").symlink_to(tmp_path / "outside")
        (worktree / "turns" / "file").unlink()
        (worktree / "turns").rmdir()
        (worktree / "turns").symlink_to(tmp_path)
        os.mkfifo(worktree / "pipe")

    (tmp_path / "file").write_text("beyond the link")
    found = changed(store, edit)
    assert (found["run"].mode_before, found["run"].mode_after) == (0o100644, 0o100755)
    assert found["run"].before == found["run"].after
    assert found["link"].mode_after == 0o120000
    assert contents(store, found["link"])[1] == os.fsencode(tmp_path / "outside")
    assert contents(store, found["turns/file"]) == (b"in a folder\n", None)
    assert found["turns"].mode_after == 0o120000
    assert set(found) == {"run", "link", "turns", "turns/file"}


def test_any_file_name(store: SnapshotStore, worktree: Path) -> None:
    names = [
        'quo"te',
        "line\nbreak",
        "back\\slash",
        " blank ",
        "<script>",
        ":(glob)*",
        "*",
        "-rf",
        "git~1",
        "\udcff\udcfe",
    ]
    found = changed(
        store, lambda: [(worktree / name).write_text(name[:1], "utf-8", "replace") for name in names]
    )
    assert set(found) == set(names)

    def remove() -> None:
        for name in names:
            (worktree / name).unlink()

    again = changed(store, remove)
    assert {path: contents(store, change)[1] for path, change in again.items()} == dict.fromkeys(names)


def test_no_filter_and_no_hook_runs(store: SnapshotStore, repository: Path, git: Git, tmp_path: Path) -> None:
    git("config", "filter.spy.clean", f"touch {tmp_path}/ran; cat")
    git("config", "core.fsmonitor", f"touch {tmp_path}/ran")
    git("config", "core.autocrlf", "true")
    (repository / ".gitattributes").write_text("* text=auto eol=crlf filter=spy ident\n")
    found = changed(store, lambda: (repository / "raw").write_bytes(b"$Id$\r\nmixed\n"))
    assert contents(store, found["raw"])[1] == b"$Id$\r\nmixed\n"
    assert not (tmp_path / "ran").exists()


def test_the_users_git_variables_have_no_say(
    store: SnapshotStore, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "NAMESPACE"):
        monkeypatch.setenv(f"GIT_{name}", "/nowhere")
    found = changed(store, lambda: (repository / "kept.txt").write_text("x"))
    assert contents(store, found["kept.txt"]) == (b"one\ntwo\n", b"x")


def test_repositories_inside_are_folders_like_others(
    store: SnapshotStore, repository: Path, git: Git, tmp_path: Path
) -> None:
    git("clone", "-q", str(repository), str(tmp_path / "library"))
    git("submodule", "add", "-q", str(tmp_path / "library"), "library")
    git("commit", "-q", "-m", "submodule")

    def edit() -> None:
        (repository / "library" / "kept.txt").write_text("inside\n")
        git("clone", "-q", str(tmp_path / "library"), "cloned")
        git("clone", "-q", str(tmp_path / "library"), "library/folder/deeper")
        (repository / "library" / ".gitignore").write_text("*.log\n")
        (repository / "library" / "a.log").write_text("x")

    found = changed(store, edit)
    assert all(change.skipped is None for change in found.values())
    assert contents(store, found["library/kept.txt"]) == (b"one\ntwo\n", b"inside\n")
    copies = {f"{place}/{name}" for place in ("cloned", "library/folder/deeper") for name in FILES}
    assert set(found) == {"library/kept.txt", "library/.gitignore"} | copies
    again = changed(store, (repository / "library" / "kept.txt").unlink)
    assert set(again) == {"library/kept.txt"}
    assert git("status", "--porcelain", cwd=repository / "cloned") == ""


def test_the_last_file_of_a_repository_inside_goes_and_comes(
    store: SnapshotStore, worktree: Path, git: Git
) -> None:
    (worktree / "inside").mkdir()
    git("init", "-q", cwd=worktree / "inside")
    file = worktree / "inside" / "file"
    for content in ("one", "two"):
        assert set(changed(store, lambda content=content: file.write_text(content))) == {"inside/file"}  # type: ignore[misc]
        assert set(changed(store, file.unlink)) == {"inside/file"}


def test_a_repository_that_goes_with_its_history_is_named(
    store: SnapshotStore, repository: Path, git: Git, tmp_path: Path
) -> None:
    git("clone", "-q", str(repository), "cloned")
    found = changed(store, lambda: shutil.rmtree(repository / "cloned"))
    assert {path: change.skipped for path, change in found.items()} == {
        "cloned/.git": REPOSITORY,
        **{f"cloned/{name}": None for name in FILES},
    }


def test_a_large_repository_inside_is_left_out_and_named(
    store: SnapshotStore, repository: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_NESTED_FILES", 1)
    git("clone", "-q", str(repository), "cloned")
    tree = store.track()
    assert {item.path: item.reason for item in tree.skipped} == {"cloned/": NESTED}
    (repository / "cloned" / "kept.txt").write_text("changed\n")
    assert store.track() == tree


def test_modes_are_whole(store: SnapshotStore, worktree: Path) -> None:
    for mode in MODES:
        (worktree / f"{mode:o}").write_text("x")
        (worktree / f"{mode:o}").chmod(mode)
    (worktree / "folder").mkdir()
    (worktree / "folder" / "deep").write_text("x")
    (worktree / "folder" / "deep").chmod(0o600)

    def edit() -> None:
        for mode in MODES:
            (worktree / f"{mode:o}").chmod(0o644)
        (worktree / "folder").rename(worktree / "moved")

    found = changed(store, edit)
    modes = {path: (change.mode_before, change.mode_after) for path, change in found.items()}
    assert modes == {
        **{f"{mode:o}": (0o100000 | mode, 0o100644) for mode in MODES if mode != 0o644},
        "folder/deep": (0o100600, None),
        "moved/deep": (None, 0o100600),
    }
    assert all(change.before == change.after for path, change in found.items() if "/" not in path)


def test_a_folder_inside_of_a_repository(tmp_path: Path, repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n")
    store = SnapshotStore(tmp_path / "data", repository / "folder")

    def edit() -> None:
        (repository / "kept.txt").write_text("not ours")
        (repository / "folder" / "a.log").write_text("ignored above")
        (repository / "folder" / "deep.txt").write_text("changed\n")

    found = changed(store, edit)
    assert list(found) == ["deep.txt"]
    assert contents(store, found["deep.txt"]) == (b"deep\n", b"changed\n")
    (repository / "folder" / "deep.txt").unlink()
    assert store.changes(store.track(), store.track()) == []
    (repository / ".gitignore").write_text("folder/\n")
    apart = SnapshotStore(tmp_path / "apart", repository / "folder")
    assert list(changed(apart, lambda: (repository / "folder" / "new").write_text("x"))) == ["new"]


@pytest.mark.parametrize("kind", ["sha256", "bare", "broken", "worktree", "sparse", "split", "conflict"])
def test_repositories_of_all_kinds(
    kind: str, store: SnapshotStore, repository: Path, git: Git, tmp_path: Path
) -> None:
    place = make_kind(kind, repository, git, tmp_path)
    store = SnapshotStore(tmp_path / "data", place)

    def edit() -> None:
        (place / "kept.txt").write_text("changed\n")
        (place / "folder").mkdir(exist_ok=True)
        (place / "folder" / "deep.txt").write_text("changed too\n")

    found = changed(store, edit)
    assert set(found) == {"kept.txt", "folder/deep.txt"}
    assert contents(store, found["kept.txt"])[1] == b"changed\n"
    expected = None if kind == "sparse" else b"deep\n"
    assert contents(store, found["folder/deep.txt"]) == (expected, b"changed too\n")
    assert changed(store, lambda: None) == {}


def test_nothing_is_borrowed_from_a_sha256_repository(repository: Path, git: Git, tmp_path: Path) -> None:
    assert find_project_git(repository).objects == repository / ".git" / "objects"
    make_kind("sha256", repository, git, tmp_path)
    found = find_project_git(repository)
    assert (found.objects, found.index) == (None, None)
    assert found.exclude == repository / ".git" / "info" / "exclude"


def make_kind(kind: str, repository: Path, git: Git, tmp_path: Path) -> Path:
    git_dir = repository / ".git"
    if kind == "sha256":
        git_dir.rename(tmp_path / "old-git")
        git("init", "-q", "--object-format=sha256")
        git("add", "-A")
    elif kind == "bare":
        git("config", "core.bare", "true")
    elif kind == "broken":
        (git_dir / "index").write_bytes(b"DIRC garbage")
    elif kind == "worktree":
        git("worktree", "add", "-q", str(tmp_path / "linked"))
        return tmp_path / "linked"
    elif kind == "sparse":
        git("sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
        assert not (repository / "folder").exists()
    elif kind == "split":
        git("update-index", "--split-index")
    elif kind == "conflict":
        git("checkout", "-q", "-b", "other")
        (repository / "kept.txt").write_text("theirs\n")
        git("commit", "-q", "-a", "-m", "theirs")
        git("checkout", "-q", "-")
        (repository / "kept.txt").write_text("ours\n")
        git("commit", "-q", "-a", "-m", "ours")
        with pytest.raises(subprocess.CalledProcessError):
            git("rebase", "other")
    return repository


def test_home_and_root_and_nothing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "users" / "home"
    (home / "project").mkdir(parents=True)
    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "link").symlink_to(home)
    for refused in (Path("/"), home, home.parent, tmp_path / "link", home / "missing", home / "file"):
        assert refusal(refused), refused
        with pytest.raises(SnapshotError):
            SnapshotStore(tmp_path / "data", refused).track()
    assert refusal(home / "project") is None


def test_a_home_in_git_does_not_swallow_its_projects(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    git("init", "-q", cwd=home)
    (home / ".gitignore").write_text("a\n")
    store = SnapshotStore(tmp_path / "data", home / "project")
    assert list(changed(store, lambda: (home / "project" / "a").write_text("x"))) == ["a"]


def test_a_stale_lock_and_a_broken_index_are_recovered(store: SnapshotStore, worktree: Path) -> None:
    (worktree / "a").write_text("a")
    before = store.track()
    (store.root / "index.lock").write_bytes(b"")
    found = changed(store, lambda: (worktree / "b").write_text("b"))
    assert list(found) == ["b"]
    (store.root / "index").write_bytes(b"torn")
    (worktree / "c").write_text("c")
    assert [change.path for change in store.changes(before, store.track())] == ["b", "c"]


def test_trees_outlive_the_process(store: SnapshotStore, worktree: Path) -> None:
    (worktree / "a").write_text("a")
    before = store.track()
    program = (
        "import sys; from pathlib import Path; from sessions.changes.snapshots.snapshot import SnapshotStore;"
        "print(SnapshotStore(Path(sys.argv[1]), Path(sys.argv[2])).track().hash)"
    )
    argv = [sys.executable, "-c", program, str(store.root), str(worktree)]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip() == before.hash
    (worktree / "a").write_text("b")
    later = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    assert store.track().hash == later != before.hash


def test_many_at_once_wait_for_each_other(store: SnapshotStore, worktree: Path) -> None:
    for number in range(300):
        (worktree / f"{number}").write_text(f"{number}\n")
    others = [SnapshotStore(store.root, worktree) for _ in range(6)]
    hashes: list[str] = []
    threads = [threading.Thread(target=lambda s=other: hashes.append(s.track().hash)) for other in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hashes == [store.track().hash] * 6
    loose = list((store.root / "objects").glob("??/*"))
    assert len(loose) < 20  # hundreds of files in one go are one pack


def test_only_one_at_a_time_works_on_the_index(store: SnapshotStore) -> None:
    with (store.root / "lock").open("w") as other:
        with store.locked(), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_edit_of_equal_size_in_the_same_instant_is_seen(store: SnapshotStore, worktree: Path) -> None:
    path = worktree / "a"
    for round_ in range(20):
        path.write_text(f"{round_:02}")
        found = changed(store, lambda: path.write_text(f"{round_ + 50:02}"))  # noqa: B023
        assert contents(store, found["a"]) == (f"{round_:02}".encode(), f"{round_ + 50:02}".encode())


def test_an_unreadable_file_does_not_stop_the_others(store: SnapshotStore, worktree: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is unreadable to root")
    (worktree / "secret").write_text("x")
    (worktree / "secret").chmod(0)
    found = changed(store, lambda: (worktree / "b").write_text("b"))
    assert list(found) == ["b"]
    assert [skipped.path for skipped in store.track().skipped] == ["secret"]


def test_ignored_files_are_kept_by_choice(store: SnapshotStore, repository: Path) -> None:
    store.room = 1000
    (repository / ".gitignore").write_text("*.log\nbuild/\nlarge/\n")
    for name, size in {"a.log": 10, "build/deep/out": 100, "large/one": 500, "large/two": 600}.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(b"x" * size)
    (repository / "build" / "deep" / "out").chmod(0o600)

    def edit() -> None:
        (repository / "a.log").write_text("more\n")
        (repository / "build" / "deep" / "out").unlink()
        (repository / "build" / "new").write_text("new\n")

    for _ in range(2):  # the second time with what is watched by then
        found = changed(store, edit)
        assert set(found) == {"a.log", "build/deep/out", "build/new"}
        assert found["build/deep/out"].mode_before == 0o100600
        plan = plan_undo(found.values(), store.objects, repository)
        assert {file.outcome for file in plan} == {"restore"}
        apply(plan, repository, store.objects)
    assert [item.path for item in store.track().skipped] == ["large/"]
    before = store.track()
    (repository / "large" / "two").unlink()
    (repository / ".gitignore").touch()  # all is looked at
    fits_now = {change.path: change.skipped for change in store.changes(before, store.track())}
    assert fits_now == {"large/": IGNORED, "large/one": IGNORED}  # it is not what the command made
    store.room = 0
    assert not (store.track().skipped)
    assert changed(store, lambda: (repository / "a.log").unlink()) == {}
