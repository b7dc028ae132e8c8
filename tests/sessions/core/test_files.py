from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

from sessions.changes.undo.files import write_file
from sessions.core.files import BrokenFile, JsonFile, create_file, locked, remove_leftovers, replace_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "new" / "script.sh"
    replace_file(file, b"one", 0o755)
    replace_file(file, b"two")
    assert (file.read_bytes(), mode(file)) == (b"two", 0o755)
    assert list(file.parent.iterdir()) == [file], "nothing temporary stays"


@pytest.mark.parametrize(
    "written", [replace_file, lambda path, text: write_file(path.parent, path.name, text, 0o640)]
)
def test_owner_group_and_attributes_stay(tmp_path: Path, written: Callable[[Path, bytes], object]) -> None:
    file = tmp_path / "shared.txt"
    file.write_bytes(b"one")
    file.chmod(0o640)
    owner = (1000, 33) if os.geteuid() == 0 else (os.geteuid(), os.getgroups()[-1])
    os.chown(file, *owner)
    with suppress(OSError):  # not every file system has them
        os.setxattr(file, "user.note", b"mine")
    attributes = os.listxattr(file)
    written(file, b"two")
    found = file.stat()
    assert (file.read_bytes(), found.st_uid, found.st_gid, mode(file)) == (b"two", *owner, 0o640)
    assert os.listxattr(file) == attributes


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_file(tmp_path / "folder", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_the_first_of_two_that_make_a_file_wins(tmp_path: Path) -> None:
    assert create_file(tmp_path / "secret", b"one", 0o600)
    assert not create_file(tmp_path / "secret", b"two", 0o600)
    assert (tmp_path / "secret").read_bytes() == b"one"
    assert mode(tmp_path / "secret") == 0o600
    assert len(list(tmp_path.iterdir())) == 1


def test_one_has_a_lock_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "lock"
    with locked(file), pytest.raises(BlockingIOError), locked(file, wait=False):
        pass
    with locked(file, wait=False), locked(tmp_path, folder=True):
        pass
    assert mode(tmp_path / "deep" / "lock") == 0o600


def count(path: Path) -> None:
    for _ in range(20):
        with JsonFile(path).changing() as content:
            content["n"] = content.get("n", 0) + 1


def test_processes_that_change_one_file_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "data" / "n.json"
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        list(processes.map(count, [file, file]))
    assert JsonFile(file).read() == {"n": 40}
    assert mode(file) == 0o600


def test_a_file_that_stays_the_same_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"a":   1}')
    with JsonFile(file).changing() as content:
        content["a"] = 1
    assert file.read_text() == '{"a":   1}'


@pytest.mark.parametrize(("text", "line"), [('{\n"a": oops}', 2), ("[1]", 1), ("", 1), ("[" * 100_000, 1)])
def test_a_broken_file_is_named_and_not_overwritten(tmp_path: Path, text: str, line: int) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(BrokenFile, match=f"x.json, line {line}:"), JsonFile(file).changing():
        pass
    assert file.read_text() == text
    with JsonFile(file).changing(broken_is_empty=True) as content:
        content["a"] = 1
    assert json.loads(file.read_text()) == {"a": 1}


def test_only_what_a_write_of_the_same_file_left_goes(tmp_path: Path) -> None:
    ours = ".a.txt.opencode-web-0123456789abcdef"
    theirs = [".a.txt.0123456789abcdef", ".b.txt.opencode-web-0123456789abcdef", "a.txt"]
    for name in (ours, *theirs):
        (tmp_path / name).touch()
    assert remove_leftovers(tmp_path / "a.txt") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(theirs)
    assert remove_leftovers(tmp_path / "no" / "such.txt") == 0
