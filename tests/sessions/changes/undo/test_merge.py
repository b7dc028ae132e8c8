from __future__ import annotations

import pytest

from sessions.changes.undo.merge import Conflict, three_way

BASE = b"".join(b"line %d\n" % number for number in range(1, 11))


def test_the_quick_ways() -> None:
    assert three_way(b"after", b"after", b"before").content == b"before"
    assert three_way(b"after", b"before", b"before").content == b"before"
    assert three_way(b"same", b"other\0", b"same").content == b"other\0"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_both_sides_stay_byte_for_byte(end: bytes) -> None:
    base = BASE.replace(b"\n", end)
    current = base.replace(b"line 9", b"mine \xff")[: -len(end)]
    other = base.replace(b"line 2", b"before")
    expected = current.replace(b"line 2", b"before")
    assert three_way(base, current, other).content == expected


def test_a_conflict_tells_where_and_what() -> None:
    current = b"first\n" + BASE.replace(b"line 5", b"user")
    merge = three_way(BASE, current, BASE.replace(b"line 5", b"before").replace(b"line 9", b"x"))
    assert merge.content is None
    assert merge.conflicts == (Conflict(6, b"user\n", b"line 5\n", b"before\n"),)


def test_markers_in_the_file_do_not_mislead() -> None:
    marks = b"<<<<<<< current\nours\n=======\ntheirs\n>>>>>>> other\n"
    merge = three_way(marks + BASE, marks + BASE + b"user\n", marks + BASE.replace(b"line 1\n", b""))
    assert merge.content == marks + BASE.replace(b"line 1\n", b"") + b"user\n"
    conflict = three_way(marks + b"a\n", marks + b"b\n", marks + b"c\n")
    assert conflict.conflicts == (Conflict(6, b"b\n", b"a\n", b"c\n"),)


def test_binary_files_conflict_as_a_whole() -> None:
    assert three_way(b"\0a", b"\0b", b"\0c").conflicts == (Conflict(1, b"\0b", b"\0a", b"\0c"),)
