"""The lanes of commits: of histories made up, and of a repository with merges."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sessions.changes.git.command import Git
from sessions.changes.git.graph import Row, graph
from sessions.changes.git.history import lanes, log
from tests.sessions.changes.git.conftest import git


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """The newest first; the parents of each are older."""
    count = draw(st.integers(1, 25))
    return [
        (str(number), [str(older) for older in draw(st.sets(st.integers(number + 1, count), max_size=3))])
        for number in range(count)
    ]


@given(histories())
def test_every_line_ends_in_the_lane_of_its_commit(commits: list[tuple[str, list[str]]]) -> None:
    rows = list(graph(commits))
    known = {commit for commit, _ in commits}
    # Lines are followed as they are drawn: from lane to lane, until they come to a commit's place.
    ends: dict[int, set[str]] = {}
    for number, row in enumerate(rows):
        before = rows[number - 1] if number else Row(0, (), ())
        assert {start for start, _ in row.above} == set(before.below)
        arrived: dict[int, set[str]] = {}
        for start, end in row.above:
            arrived.setdefault(end, set()).update(ends[start])
        commit, parents = commits[number]
        came = arrived.pop(row.lane, set())
        wanted = {child for child, of in commits[:number] if commit in of}
        assert wanted <= came
        ends = arrived
        if row.lane in row.below:
            ends.setdefault(row.lane, set()).add(commit)
        assert bool(set(parents)) == (row.lane in row.below and bool(parents))
    assert len(rows) == len(known)


def test_a_history_of_one_line_stays_in_one_lane() -> None:
    rows = list(graph([("c", ["b"]), ("b", ["a"]), ("a", [])]))
    assert rows == [Row(0, (), (0,)), Row(0, ((0, 0),), (0,)), Row(0, ((0, 0),), ())]


def test_a_merge_opens_a_lane_and_the_fork_closes_it() -> None:
    rows = list(graph([("m", ["a", "b"]), ("b", ["r"]), ("a", ["r"]), ("r", [])]))
    assert [row.lane for row in rows] == [0, 1, 0, 0]
    assert rows[1].above == ((0, 0), (0, 1))
    assert rows[3].above == ((0, 0), (1, 0))
    assert max(row.width for row in rows) == 2


def test_a_commit_that_came_before_its_child() -> None:
    assert [row.below for row in graph([("a", []), ("b", ["a"])])] == [(), ()]


def test_the_log_has_a_row_for_each_commit(top: Path, ours: Git) -> None:
    git(top, "switch", "-qc", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "theirs")
    git(top, "switch", "-q", "main")
    git(top, "commit", "-q", "--allow-empty", "-m", "mine")
    assert len(log(ours)) == len(lanes(ours)) == 2
    assert len(log(ours, every=True)) == len(lanes(ours, every=True)) == 3
    assert {row.width for row in lanes(ours, every=True)} == {1, 2}
    git(top, "merge", "-q", "--no-edit", "other")
    assert len(lanes(ours)) == 4
    assert lanes(ours, skip=1) == lanes(ours)[1:]
