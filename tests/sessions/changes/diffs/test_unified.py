from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.changes.diffs.lines import changed_spans, count, diff_text, split_lines, status

TEXTS = st.lists(
    st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\x0c\u2028e\n", "- x\n", "same\n"]), max_size=40
)


def git_apply(folder: Path, patch: str) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=patch.encode(), check=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("one\ntwo\nthree\n", "one\n2\nthree\n"),
        (None, "new\nfile"),
        ("old\nfile", None),
        ("no end", "no end\n"),
        ("a\r\nb\r\n", "a\r\nB\r\n"),
        ("".join(f"{n}\n" for n in range(50)), "".join(f"{n}\n" for n in range(50) if n not in (3, 30))),
    ],
)
@pytest.mark.parametrize("path", ["a b.txt", 'sub/q"uote', "tab\tand\nbreak", "ümlaut"])
def test_git_applies_the_patch(tmp_path: Path, before: str | None, after: str | None, path: str) -> None:
    target = tmp_path / path
    target.parent.mkdir(exist_ok=True)
    if before is not None:
        target.write_bytes(before.encode())
    git_apply(tmp_path, diff_text(before, after, path))
    assert (target.read_bytes().decode() if target.exists() else None) == after


@settings(max_examples=200)
@given(TEXTS, TEXTS, st.booleans())
def test_the_spans_make_one_text_into_the_other(before: list[str], after: list[str], cut: bool) -> None:
    one, other = "".join(before), "".join(after)[: -1 if cut else None]
    old, new = split_lines(one), split_lines(other)
    assert "".join(old) == one
    made: list[str] = []
    at = 0
    for a, b, c, d in changed_spans(old, new):
        made += old[at:a] + new[c:d]
        at = b
    assert made + old[at:] == new
    assert count(one, other)[0] - count(one, other)[1] == len(new) - len(old)


def test_moved_neighbours_do_not_spoil_the_diff() -> None:
    before = "def one():\n    pass\n\ndef two():\n    pass\n"
    after = "def zero():\n    pass\n\ndef one():\n    pass\n\ndef two():\n    pass\n"
    assert count(before, after) == (3, 0)


@pytest.mark.parametrize("kinds", [10**9, 50])
def test_a_hundred_thousand_lines_with_few_changes_give_few_changes(kinds: int) -> None:
    random = Random(kinds)
    before = [f"{random.randrange(kinds)}\n" for _ in range(100_000)]
    after = list(before)
    for n in range(500, 100_000, 1000):
        after[n] = f"changed {n}\n"
    assert count("".join(before), "".join(after)) == (100, 100)


def test_equal_texts_have_no_patch_and_a_status_is_told() -> None:
    assert diff_text("same", "same", "x") == ""
    assert [status(None, ""), status("", None), status("", "x")] == ["added", "deleted", "modified"]
