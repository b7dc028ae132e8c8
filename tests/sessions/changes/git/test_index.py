"""Staging and unstaging hunks and lines, beside what git does with a patch of the same."""

from __future__ import annotations

import stat
from collections.abc import Sequence, Set
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions.changes.diffs.hunks import Row, hunks
from sessions.changes.git.command import Git
from sessions.changes.git.commits import commit
from sessions.changes.git.discarding import discarded_part
from sessions.changes.git.index import Changed, Chosen, stage, stage_part, unstage_part
from sessions.changes.git.sides import staged, unstaged
from sessions.changes.git.status import status
from sessions.changes.snapshots.objects import object_id
from tests.sessions.changes.git.conftest import git

TEXTS = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"+x\n", b"--- y\n", b"\xff\n"]), max_size=30
)
ENDS = st.sampled_from([b"", b"end", b"end\n"])


def in_index(top: Path, path: str = "a.txt") -> bytes:
    return git(top, "cat-file", "blob", f":{path}").encode("utf-8", "surrogateescape")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, ENDS, TEXTS, ENDS, st.data())
def test_hunks_are_staged_as_git_applies_them(
    top: Path, ours: Git, old: list[bytes], end: bytes, new: list[bytes], new_end: bytes, data: st.DataObject
) -> None:
    before, after = b"".join(old) + end, b"".join(new) + new_end
    (top / "a.txt").write_bytes(before)
    git(top, "add", "a.txt")
    (top / "a.txt").write_bytes(after)
    sides = unstaged(ours, "a.txt")
    if sides is None:
        assert before == after
        return
    if before != after:
        assert (sides.before, sides.after) == (before, after)
    keys = [hunk.key for hunk in hunks(before, after).hunks]
    if not keys:
        return
    chosen = data.draw(st.sets(st.sampled_from(keys), min_size=1))
    stage_part(ours, "a.txt", Chosen(sides.seen, frozenset(chosen)))
    rest = unstaged(ours, "a.txt")
    assert in_index(top) == (rest.before if rest else after)
    left = len(hunks(in_index(top), after).hunks)
    assert left <= len(keys) - len(chosen)
    assert (left == 0) == (in_index(top) == after)
    # All the rest, and what git says is nothing any more.
    if rest:
        more = hunks(rest.before or b"", rest.after or b"").hunks
        stage_part(ours, "a.txt", Chosen(rest.seen, frozenset(hunk.key for hunk in more)))
    assert in_index(top) == after
    assert git(top, "diff", "--", "a.txt") == ""


def patch_of(
    rows: Sequence[Row],
    old: Sequence[bytes],
    new: Sequence[bytes],
    removed: Set[int | None],
    added: Set[int | None],
    *,
    back: bool = False,
) -> tuple[bytes, int, int]:
    """The patch that `git add --patch` would make of lines, and how many each side of it has: what is not
    chosen is context, or is not there; of one that is to be applied `back` (to what is new) it is the other
    way round."""
    body, olds, news = b"", 0, 0
    for row in rows:
        line = old[row.old - 1] if row.old else new[(row.new or 0) - 1]
        chosen = row.old in removed if row.kind == "del" else row.new in added
        kept = row.kind == ("add" if back else "del")
        if row.kind == "context" or (kept and not chosen):
            body, olds, news = body + b" " + line, olds + 1, news + 1
        elif chosen and row.kind == "del":
            body, olds = body + b"-" + line, olds + 1
        elif chosen:
            body, news = body + b"+" + line, news + 1
    start = f"@@ -{1 if olds else 0},{olds} +{1 if news else 0},{news} @@\n"
    return b"--- a/a.txt\n+++ b/a.txt\n" + start.encode() + body, olds, news


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS, st.data())
def test_lines_are_staged_as_git_applies_a_patch_of_them(
    top: Path, ours: Git, old: list[bytes], new: list[bytes], data: st.DataObject
) -> None:
    before, after = b"".join(old), b"".join(new)
    (top / "a.txt").write_bytes(before)
    git(top, "add", "a.txt")
    (top / "a.txt").write_bytes(after)
    sides, rows = unstaged(ours, "a.txt"), [row for hunk in hunks(before, after).hunks for row in hunk.rows]
    removed, added = (
        [row.old for row in rows if row.kind == "del"],
        [row.new for row in rows if row.kind == "add"],
    )
    if sides is None or not (removed or added):
        return
    some = [data.draw(st.sets(st.sampled_from(lines))) if lines else set() for lines in (removed, added)]
    if not (some[0] or some[1]):
        return
    chosen = Chosen(
        sides.seen, removed=frozenset(filter(None, some[0])), added=frozenset(filter(None, some[1]))
    )
    rows = [row for hunk in hunks(before, after, 10**6).hunks for row in hunk.rows]
    patch, olds, news = patch_of(rows, old, new, some[0], some[1])
    if olds and news:
        git(top, "apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)
        expected = in_index(top)
        (top / "a.txt").write_bytes(before)
        git(top, "add", "a.txt")
        (top / "a.txt").write_bytes(after)
    else:
        staged_lines = [line for number, line in enumerate(new, 1) if number in some[1]]
        expected = b"\n".join(line.removesuffix(b"\n") for line in staged_lines)
        expected += b"\n" if staged_lines and staged_lines[-1].endswith(b"\n") else b""
    stage_part(ours, "a.txt", chosen)
    assert in_index(top) == expected


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS, st.data())
def test_lines_are_unstaged_and_discarded_as_git_applies_a_patch_of_them_back(
    top: Path, ours: Git, old: list[bytes], new: list[bytes], data: st.DataObject
) -> None:
    before, after = b"".join(old), b"".join(new)
    rows = [row for hunk in hunks(before, after, 10**6).hunks for row in hunk.rows]
    removed, added = (
        {number for row in rows if row.kind == kind and (number := row.old or row.new)}
        for kind in ("del", "add")
    )
    if not (removed or added):
        return
    some = [
        data.draw(st.sets(st.sampled_from(sorted(lines)))) if lines else set() for lines in (removed, added)
    ]
    patch, olds, news = patch_of(rows, old, new, some[0], some[1], back=True)
    if not (some[0] or some[1]) or not (olds and news):
        return  # git's patches have no file of nothing at either end
    (top / "a.txt").write_bytes(before)
    git(top, "add", "a.txt")
    git(top, "commit", "-q", "--allow-empty", "-m", "before")
    (top / "a.txt").write_bytes(after)

    # Of what is not staged: the file becomes what git makes of it.
    sides = unstaged(ours, "a.txt")
    assert sides is not None
    chosen = Chosen(sides.seen, removed=frozenset(some[0]), added=frozenset(some[1]))
    wanted, seen = discarded_part(ours, "a.txt", chosen)
    assert wanted is not None
    assert seen == object_id(after)
    git(top, "apply", "--reverse", "--whitespace=nowarn", "-", stdin=patch)
    assert wanted.content == (top / "a.txt").read_bytes()

    # Of what is staged: the index becomes that, and the file stays.
    (top / "a.txt").write_bytes(after)
    git(top, "add", "a.txt")
    sides = staged(ours, "a.txt")
    assert sides is not None
    unstage_part(ours, "a.txt", Chosen(sides.seen, removed=frozenset(some[0]), added=frozenset(some[1])))
    assert in_index(top) == wanted.content
    assert (top / "a.txt").read_bytes() == after


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS, st.data())
def test_a_commit_has_the_hunks_that_were_staged_and_no_other(
    top: Path, ours: Git, old: list[bytes], new: list[bytes], data: st.DataObject
) -> None:
    before, after = b"".join(old), b"".join(new)
    keys = [hunk.key for hunk in hunks(before, after).hunks]
    if not keys:
        return
    (top / "a.txt").write_bytes(before)
    git(top, "add", "a.txt")
    git(top, "commit", "-q", "--allow-empty", "-m", "before")
    (top / "a.txt").write_bytes(after)
    sides = unstaged(ours, "a.txt")
    assert sides is not None
    chosen = data.draw(st.sets(st.sampled_from(keys), min_size=1))
    stage_part(ours, "a.txt", Chosen(sides.seen, frozenset(chosen)))
    index = in_index(top)
    commit(ours, "Some of it")
    assert git(top, "cat-file", "blob", "HEAD:a.txt").encode("utf-8", "surrogateescape") == index
    assert staged(ours, "a.txt") is None
    assert (top / "a.txt").read_bytes() == after
    while rest := unstaged(ours, "a.txt"):
        first = hunks(rest.before or b"", rest.after or b"").hunks[0]
        stage_part(ours, "a.txt", Chosen(rest.seen, frozenset({first.key})))
        commit(ours, "The rest")
    assert git(top, "status", "--porcelain") == ""
    assert git(top, "cat-file", "blob", "HEAD:a.txt").encode("utf-8", "surrogateescape") == after


def test_a_hunk_is_unstaged_alone(top: Path, ours: Git) -> None:
    lines = [f"{number}\n" for number in range(30)]
    lines[2], lines[25] = "two\n", "twenty-five\n"
    (top / "a.txt").write_text("".join(lines))
    stage(ours, ["a.txt"])
    sides = staged(ours, "a.txt")
    assert sides is not None
    first = hunks(sides.before or b"", sides.after or b"").hunks[0]
    unstage_part(ours, "a.txt", Chosen(sides.seen, frozenset({first.key})))
    assert b"2\n" in in_index(top)
    assert b"twenty-five\n" in in_index(top)
    assert b"two\n" not in in_index(top)
    assert (top / "a.txt").read_text() == "".join(lines)


def test_what_changed_since_it_was_shown_is_not_staged(top: Path, ours: Git) -> None:
    (top / "a.txt").write_text("x\n")
    sides = unstaged(ours, "a.txt")
    assert sides is not None
    (top / "a.txt").write_text("y\n")
    with pytest.raises(Changed):
        stage_part(ours, "a.txt", Chosen(sides.seen, removed=frozenset({1})))


def test_part_of_a_new_file_keeps_its_mode(top: Path, ours: Git) -> None:
    (top / "run").write_text("one\ntwo\n")
    (top / "run").chmod(0o755)
    sides = unstaged(ours, "run")
    assert sides is not None
    assert sides.before is None
    stage_part(ours, "run", Chosen(sides.seen, added=frozenset({2})))
    assert in_index(top, "run") == b"two\n"
    assert git(top, "ls-files", "-s", "run").startswith("100755")
    assert [file.path for file in status(ours).changed] == ["run"]


def test_line_ends_that_git_converts_are_kept_converted(top: Path, ours: Git) -> None:
    (top / ".gitattributes").write_text("*.dos text eol=crlf\n")
    (top / "a.dos").write_bytes(b"one\r\ntwo\r\n")
    git(top, "add", ".")
    (top / "a.dos").write_bytes(b"one\r\n2\r\nthree\r\n")
    sides = unstaged(ours, "a.dos")
    assert sides is not None
    assert sides.after == b"one\n2\nthree\n"
    stage_part(ours, "a.dos", Chosen(sides.seen, added=frozenset({3})))
    assert in_index(top, "a.dos") == b"one\ntwo\nthree\n"


def test_a_file_that_became_a_link(top: Path, ours: Git) -> None:
    (top / "a.txt").unlink()
    (top / "a.txt").symlink_to("b")
    sides = unstaged(ours, "a.txt")
    assert sides is not None
    assert sides.after == b"b"
    assert stat.S_ISLNK(sides.mode_after or 0)


def test_a_binary_file_has_no_lines(top: Path, ours: Git) -> None:
    (top / "a.txt").write_bytes(b"\0\1")
    sides = unstaged(ours, "a.txt")
    assert sides is not None
    assert sides.binary
