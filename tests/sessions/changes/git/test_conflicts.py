"""Conflicts as git makes them: by merge, rebase, cherry-pick, revert and stash, settled part by part."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions.changes.git import ongoing, stash
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.conflicts import reopen, resolution, settle, sides_named, unmerged
from sessions.changes.git.index import Changed
from sessions.changes.git.status import File, status
from sessions.changes.review.conflicts import open_merge
from sessions.changes.undo.files import write_file
from tests.sessions.changes.git.conftest import git

LINES = [f"{number}\n" for number in range(30)]


def changed(**lines: str) -> str:
    new = LINES.copy()
    for name, text in lines.items():
        new[int(name.removeprefix("at"))] = text
    return "".join(new)


def collided(top: Path, *arguments: str) -> None:
    """Do what ends in a conflict."""
    with pytest.raises(subprocess.CalledProcessError):
        git(top, *arguments)


@pytest.fixture
def merging(top: Path) -> Path:
    """Line 2 is another on both sides, lines 10 and 25 on one each."""
    git(top, "switch", "-qc", "other")
    (top / "a.txt").write_text(changed(at2="theirs\n", at25="theirs too\n"))
    git(top, "commit", "-qam", "theirs")
    git(top, "switch", "-q", "main")
    (top / "a.txt").write_text(changed(at2="ours\n", at10="ours too\n"))
    git(top, "commit", "-qam", "ours")
    collided(top, "merge", "-q", "other")
    return top


def resolve(ours: Git, take: str, path: str = "a.txt", **choices: str) -> None:
    """As the panel does it, without the ledger."""
    seen = unmerged(ours, path).seen
    form = {name.replace("_", "-"): text for name, text in choices.items()}
    wanted = resolution(ours, path, seen, take, form)
    if wanted is not None:
        if wanted[0] is None:
            (ours.top / path).unlink(missing_ok=True)
        else:
            write_file(ours.top, path, wanted[0].content, wanted[0].mode)
    settle(ours, path, take)


def test_a_part_shows_what_was_there_and_both_sides(merging: Path, ours: Git) -> None:
    file = unmerged(ours, "a.txt")
    (part,) = file.parts
    assert (part.line, part.ours, part.base, part.theirs) == (3, "ours\n", "2\n", "theirs\n")
    assert (part.before, part.after) == ("0\n1\n", "3\n4\n5\n")
    assert file.marks == (3, 7)
    assert sides_named(ours)[0] == "main"
    assert sides_named(ours)[1].endswith(" theirs")


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"choice_0": "ours"}, "ours\n"),
        ({"choice_0": "theirs"}, "theirs\n"),
        ({"choice_0": "both"}, "ours\ntheirs\n"),
        ({"choice_0": "hand", "text_0": "neither"}, "neither\n"),
    ],
)
def test_a_part_is_chosen_and_the_rest_fits_together(
    merging: Path, ours: Git, choices: dict[str, str], line: str
) -> None:
    resolve(ours, "parts", **choices)
    expected = changed(at2=line, at10="ours too\n", at25="theirs too\n")
    assert (merging / "a.txt").read_text() == expected
    assert status(ours).conflicts == []
    assert status(ours).staged == [File("a.txt", "M")]
    ongoing.go_on(ours)
    assert status(ours).doing is None
    assert git(merging, "log", "-1", "--format=%s").strip() == "Merge branch 'other'"


def test_one_side_is_taken_as_a_whole_and_the_conflict_comes_back(merging: Path, ours: Git) -> None:
    before = unmerged(ours, "a.txt")
    marked = (merging / "a.txt").read_bytes()
    resolve(ours, "theirs")
    assert (merging / "a.txt").read_text() == changed(at2="theirs\n", at25="theirs too\n")
    (merging / "a.txt").write_bytes(marked)
    reopen(ours, "a.txt", before.entries)
    assert unmerged(ours, "a.txt") == before
    for entries in ("", "100644 x 1", "--all", before.entries + "\n"):
        with pytest.raises(GitError):
            reopen(ours, "a.txt", entries)


def test_what_was_not_seen_so_is_not_settled(merging: Path, ours: Git) -> None:
    seen = unmerged(ours, "a.txt").seen
    (merging / "a.txt").write_text("by somebody else\n")
    with pytest.raises(Changed):
        resolution(ours, "a.txt", seen, "ours", {})
    resolve(ours, "disk")
    assert git(merging, "cat-file", "blob", ":a.txt") == "by somebody else\n"
    with pytest.raises(Changed):
        unmerged(ours, "a.txt")
    with pytest.raises(GitError):
        unmerged(ours, "-f")


def test_each_part_has_to_be_chosen(merging: Path, ours: Git) -> None:
    with pytest.raises(GitError, match="each part"):
        resolve(ours, "parts")


@pytest.mark.parametrize(("take", "there"), [("ours", False), ("theirs", True)])
def test_a_file_that_one_side_deleted(top: Path, ours: Git, take: str, there: bool) -> None:
    git(top, "switch", "-qc", "other")
    (top / "a.txt").write_text(changed(at2="theirs\n"))
    git(top, "commit", "-qam", "theirs")
    git(top, "switch", "-q", "main")
    git(top, "rm", "-q", "a.txt")
    git(top, "commit", "-qm", "ours")
    collided(top, "merge", "-q", "other")
    assert unmerged(ours, "a.txt").kind == "removed"
    resolve(ours, take)
    assert (top / "a.txt").exists() == there
    assert status(ours).conflicts == []


def test_a_binary_file_is_taken_from_one_side(top: Path, ours: Git) -> None:
    (top / "b").write_bytes(b"\0base")
    git(top, "add", ".")
    git(top, "commit", "-qm", "b")
    git(top, "switch", "-qc", "other")
    (top / "b").write_bytes(b"\0theirs")
    git(top, "commit", "-qam", "theirs")
    git(top, "switch", "-q", "main")
    (top / "b").write_bytes(b"\0ours")
    git(top, "commit", "-qam", "ours")
    collided(top, "merge", "-q", "other")
    assert unmerged(ours, "b").kind == "binary"
    resolve(ours, "theirs", "b")
    assert (top / "b").read_bytes() == b"\0theirs"
    assert git(top, "diff", "--cached", "other", "--", "b") == ""


def test_a_submodule_is_set_to_the_commit_of_a_side(top: Path, ours: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(top, "commit", "-qm", "with a submodule")
    commits = {}
    for branch in ("other", "main"):
        git(top, "switch", "-q", *(("-c",) if branch == "other" else ()), branch)
        git(top / "sub", "checkout", "-q", "--detach", "HEAD" if branch == "other" else "HEAD^")
        git(top / "sub", "commit", "-q", "--allow-empty", "-m", branch)
        commits[branch] = git(top / "sub", "rev-parse", "HEAD").strip()
        git(top, "commit", "-qam", branch)
    collided(top, "merge", "-q", "other")
    file = unmerged(ours, "sub")
    assert file.kind == "submodule"
    assert file.theirs is not None
    assert file.theirs.address == commits["other"]
    resolve(ours, "theirs", "sub")
    assert git(top, "ls-files", "--stage", "sub").split()[1] == commits["other"]
    assert git(top / "sub", "rev-parse", "HEAD").strip() == commits["main"]


def test_a_merge_is_aborted_and_what_was_in_it_is_put_aside(merging: Path, ours: Git) -> None:
    (merging / "a.txt").write_text("half resolved\n")
    ongoing.abort(ours)
    assert (merging / "a.txt").read_text() == changed(at2="ours\n", at10="ours too\n")
    now = status(ours)
    assert (now.doing, now.conflicts, now.staged, now.changed) == (None, [], [], [])
    (aside,) = stash.stashes(ours)
    assert "a merge that was aborted" in aside.words
    stash.take_back(ours, aside.commit)
    assert (merging / "a.txt").read_text() == "half resolved\n"
    with pytest.raises(GitError, match="over already"):
        ongoing.abort(ours)


def test_a_rebase_says_how_far_it_is_and_goes_on(top: Path, ours: Git) -> None:
    git(top, "switch", "-qc", "topic")
    for number, text in enumerate(("mine\n", "mine again\n")):
        (top / "a.txt").write_text(changed(at2=text))
        (top / f"new{number}").write_text("x")
        git(top, "add", ".")
        git(top, "commit", "-qm", text.strip())
    git(top, "switch", "-q", "main")
    (top / "a.txt").write_text(changed(at2="upstream\n"))
    git(top, "commit", "-qam", "upstream")
    git(top, "switch", "-q", "topic")
    collided(top, "rebase", "-q", "main")
    doing = status(ours).doing
    assert doing is not None
    assert (doing.act, doing.step, doing.steps, doing.skips) == ("rebase", 1, 2, True)
    assert "upstream" in sides_named(ours)[0]
    assert sides_named(ours)[1].endswith(" mine")
    with pytest.raises(GitError, match="must edit all merge conflicts"):
        ongoing.go_on(ours)
    with pytest.raises(GitError, match=r"CONFLICT|could not apply"):
        ongoing.skip(ours)
    assert unmerged(ours, "a.txt").parts[0].theirs == "mine again\n"
    resolve(ours, "theirs")
    ongoing.go_on(ours)
    assert status(ours).doing is None
    assert git(top, "log", "-2", "--format=%s").splitlines() == ["mine again", "upstream"]


def test_a_cherry_pick_and_a_revert_in_conflict(top: Path, ours: Git) -> None:
    for text in ("one\n", "two\n"):
        (top / "a.txt").write_text(changed(at2=text))
        git(top, "commit", "-qam", text.strip())
    collided(top, "revert", "--no-edit", "HEAD^")
    doing = status(ours).doing
    assert doing is not None
    assert doing.act == "revert"
    assert sides_named(ours)[1].startswith("without ")
    ongoing.abort(ours)
    git(top, "switch", "-qc", "other", "HEAD~2")
    collided(top, "cherry-pick", "main")
    doing = status(ours).doing
    assert doing is not None
    assert doing.act == "cherry-pick"
    resolve(ours, "theirs")
    ongoing.go_on(ours)
    assert git(top, "log", "-1", "--format=%s").strip() == "two"


def test_what_was_put_aside_conflicts(top: Path, ours: Git) -> None:
    (top / "a.txt").write_text(changed(at2="aside\n"))
    git(top, "add", ".")
    aside = stash.put_aside(ours, "later")
    assert "later" in aside
    (top / "a.txt").write_text(changed(at2="meanwhile\n"))
    git(top, "commit", "-qam", "meanwhile")
    with pytest.raises(GitError, match="CONFLICT"):
        stash.take_back(ours, stash.stashes(ours)[0].commit)
    assert sides_named(ours) == ("main", "what was put aside")
    assert unmerged(ours, "a.txt").parts[0].theirs == "aside\n"
    resolve(ours, "parts", choice_0="both")
    assert (top / "a.txt").read_text() == changed(at2="meanwhile\naside\n")


def test_line_ends_that_git_converts(top: Path, ours: Git) -> None:
    (top / ".gitattributes").write_text("*.dos text eol=crlf\n")
    (top / "a.dos").write_bytes(b"one\r\ntwo\r\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "dos")
    git(top, "switch", "-qc", "other")
    (top / "a.dos").write_bytes(b"one\r\ntheirs\r\n")
    git(top, "commit", "-qam", "theirs")
    git(top, "switch", "-q", "main")
    (top / "a.dos").write_bytes(b"one\r\nours\r\n")
    git(top, "commit", "-qam", "ours")
    collided(top, "merge", "-q", "other")
    resolve(ours, "parts", "a.dos", choice_0="hand", text_0="by hand\r\n")
    assert (top / "a.dos").read_bytes() == b"one\r\nby hand\r\n"
    assert git(top, "cat-file", "blob", ":a.dos") == "one\nby hand\n"


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n"]), max_size=8).map(b"".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS, TEXTS)
def test_whatever_is_chosen_a_side_that_did_not_change_does_not_count(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    both = open_merge(base, ours, theirs, "", close=True)
    if ours == base:
        assert both.conflicts == []
        assert both.settled([]) == theirs
    if theirs == base:
        assert both.conflicts == []
        assert both.settled([]) == ours
    if not both.conflicts:
        return
    assert all(part.current != part.other for part in both.conflicts)
    again = open_merge(base, ours, ours, "", close=True)
    assert again.settled([]) == ours
