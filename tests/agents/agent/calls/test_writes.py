"""Several files written all or none."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents.agent.calls.context import apply_all
from agents.toolkit.base import FileWrite
from sessions.core.models import FileChange

OLD = b"x" * 100_000


def made(path: Path, mode: int, content: bytes = b"old") -> int:
    path.write_bytes(content)
    path.chmod(mode)
    return path.stat().st_mode


def write(
    path: Path, content: bytes | None, mode: int | None, expected: bytes | None = b"old"
) -> tuple[FileWrite, FileChange]:
    after = None if content is None else mode
    return FileWrite(path, content, expected), FileChange(path=path.name, mode_before=mode, mode_after=after)


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_what_was_removed_comes_back_with_its_mode(tmp_path: Path) -> None:
    gone, changed, folder = tmp_path / "gone", tmp_path / "changed", tmp_path / "folder"
    mode = made(gone, 0o700)
    folder.mkdir()
    stuck: list[FileChange] = []
    with pytest.raises(IsADirectoryError):
        apply_all(
            [write(gone, None, mode), write(changed, b"", None, None), write(folder, None, mode)], stuck
        )
    assert (gone.read_bytes(), gone.stat().st_mode) == (b"old", mode)
    assert not changed.exists()
    assert not stuck


def test_nothing_is_removed_before_all_is_written(tmp_path: Path) -> None:
    gone, folder = tmp_path / "gone", tmp_path / "file"
    mode = made(gone, 0o700)
    made(folder, 0o600)
    inode = gone.stat().st_ino
    with pytest.raises(NotADirectoryError):
        apply_all([write(gone, None, mode), write(folder / "new", b"", None, None)], [])
    assert gone.stat().st_ino == inode


def test_what_can_be_taken_back_is_also_after_what_cannot(tmp_path: Path) -> None:
    small, large, other = tmp_path / "small", tmp_path / "large", tmp_path / "other"
    mode = made(small, 0o600)
    made(large, 0o600, OLD)
    stuck: list[FileChange] = []
    writes = [write(small, b"new", mode), write(large, b"new", mode, OLD), write(other, OLD, None, None)]
    with no_file_over(len(OLD) // 2), pytest.raises(OSError, match="File too large"):
        apply_all(writes, stuck)
    assert [change.path for change in stuck] == ["large"]
    assert (small.read_bytes(), large.read_bytes()) == (b"old", b"new")
