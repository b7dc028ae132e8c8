"""Writing below a worktree: links inside are followed as the person does, and nothing else is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.changes.undo.files import (
    UnsafePath,
    read_file,
    remove_empty_folder,
    remove_file,
    remove_leftovers,
    write_file,
)


def test_a_linked_folder_inside_is_one_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    assert write_file(tmp_path, "linked/new/deep.txt", b"deep", 0o100644) == 1
    assert (tmp_path / "real/new/deep.txt").read_bytes() == b"deep"
    found = read_file(tmp_path, "linked/new/deep.txt")
    assert found is not None
    assert found.content == b"deep"
    remove_file(tmp_path, "linked/new/deep.txt")
    assert remove_empty_folder(tmp_path, "linked/new")


@pytest.mark.parametrize("path", ["out/x", "hooks/x", "circle/x", "../x", ".git/x", "a/.GIT/x", "/x", ""])
def test_nothing_else_is_written(tmp_path: Path, path: str) -> None:
    root = tmp_path / "project"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path)
    (root / "hooks").symlink_to(".git/hooks")
    (root / "circle").symlink_to("circle")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UnsafePath):
        write_file(root, path, b"x", 0o100644)
    with pytest.raises(UnsafePath):
        read_file(root, path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_where_a_folder_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    assert read_file(tmp_path, "a/b.txt") is None
    with pytest.raises(NotADirectoryError):
        write_file(tmp_path, "a/b.txt", b"x", 0o100644)
    assert (tmp_path / "a").read_text() == "a file"


def test_only_leftovers_of_our_own_go(tmp_path: Path) -> None:
    for name in (".undo-0123456789abcdef", ".undo-mine", "x.undo-0123456789abcdef"):
        (tmp_path / name).write_text("x")
    assert remove_leftovers(tmp_path, "any.txt") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".undo-mine", "x.undo-0123456789abcdef"]
    assert remove_leftovers(tmp_path, "no/such/any.txt") == 0
