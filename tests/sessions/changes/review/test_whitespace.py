from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import hunks
from sessions.changes.review.comparing import without_whitespace

FAR = b"".join(b"equal %d\n" % n for n in range(10))
LINES = st.lists(st.sampled_from([b"a b\n", b"a  b\n", b" a b\r\n", b"c\n", b"\n", b"c"]), max_size=12)


def test_hunks_of_white_space_only_are_hidden_and_the_others_keep_their_keys() -> None:
    before = b"if a:\n  b()\n" + FAR + b"old\n" + FAR + b"end\n"
    after = b"if a:\n    b()\n" + FAR + b"new\n" + FAR + b"end\r\n"
    real, shown = hunks(before, after), without_whitespace(hunks(before, after))
    assert len(real.hunks) == 3
    assert [hunk.key for hunk in shown.hunks] == [real.hunks[1].key]
    assert [hunk.key for hunk in shown.hidden] == [real.hunks[0].key, real.hunks[2].key]
    assert (shown.additions, shown.deletions) == (1, 1)
    assert (real.additions, real.deletions) == (3, 3)


def test_in_a_hunk_that_stays_lines_of_white_space_only_are_context() -> None:
    before = b"def f():\n  return old\n"
    after = b"def f():\n    log()\n    return old\n"
    (hunk,) = without_whitespace(hunks(before, after)).hunks
    assert [(row.kind, row.text) for row in hunk.rows] == [
        ("context", "def f():"),
        ("add", "    log()"),
        ("context", "    return old"),
    ]
    (real,) = hunks(before, after).hunks
    assert (hunk.key, hunk.spans) == (real.key, real.spans)
    assert [(row.old, row.new) for row in hunk.rows] == [(1, 1), (None, 2), (2, 3)]


def _bare(lines: Sequence[bytes]) -> list[bytes]:
    return [b"".join(line.split()) for line in lines]


@settings(max_examples=200)
@given(LINES, LINES)
def test_nothing_else_gets_lost(before: list[bytes], after: list[bytes]) -> None:
    diff = without_whitespace(hunks(b"".join(before), b"".join(after)))
    for hunk in diff.hidden:
        for a, b, c, d in hunk.spans:
            assert _bare(diff.old[a:b]) == _bare(diff.new[c:d])
    for hunk in diff.hunks:
        assert sum(row.kind != "add" for row in hunk.rows) == hunk.old_count
        assert sum(row.kind != "del" for row in hunk.rows) == hunk.new_count
        assert any(row.kind != "context" for row in hunk.rows)


def test_git_finds_the_same_lines(tmp_path: Path) -> None:
    contents = {
        "a": b"one\n two\nthree\n\tfour\nfive\r\nsix  seven\n",
        "b": b"one\ntwo\n3\n  four\nfive\nsix seven\neight\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    git = ["git", "diff", "--no-index", "-w", "--numstat", "a", "b"]
    said = subprocess.run(git, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.split()
    diff = without_whitespace(hunks(contents["a"], contents["b"]))
    assert said[:2] == [str(diff.additions), str(diff.deletions)] == ["2", "1"]
