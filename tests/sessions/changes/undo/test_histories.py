"""Random histories of agent and user edits: what undo and redo must hold whatever happened."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import plan_undo

from .conftest import Agent

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"\xff\n"]), max_size=12)
ENDS = st.sampled_from([b"", b"no newline"])
CONTENT = st.builds(lambda lines, end: b"".join(lines) + end, LINES, ENDS)
NAMES = st.sampled_from(["a", "sub/b", "sub/deeper/c"])


@st.composite
def spliced(draw: st.DrawFn, content: bytes) -> bytes:
    """`content` with a few lines replaced somewhere."""
    lines = content.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines)))
    end = draw(st.integers(start, min(len(lines), start + 3)))
    return b"".join([*lines[:start], *draw(LINES)[:3], *lines[end:]])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def new_agent(folder: str, start: dict[str, bytes]) -> Agent:
    agent = Agent(Path(folder) / "work", ObjectStore(Path(folder) / "store"))
    for name, content in start.items():
        (agent.worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (agent.worktree / name).write_bytes(content)
    agent.worktree.mkdir(exist_ok=True)
    return agent


def edit(agent: Agent, data: st.DataObject) -> None:
    """The agent writes, changes or removes one file."""
    name = data.draw(NAMES)
    target = agent.worktree / name
    if not target.exists():
        agent.write(name, data.draw(CONTENT))
    else:
        remove = data.draw(st.integers(0, 4)) == 0
        agent.write(name, None if remove else data.draw(spliced(target.read_bytes())))


@settings(max_examples=200)
@given(st.dictionaries(NAMES, CONTENT), st.integers(1, 6), st.data())
def test_alone_undo_gives_the_bytes_before_and_redo_those_after(
    start: dict[str, bytes], edits: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        agent = new_agent(folder, start)
        for _ in range(edits):
            edit(agent, data)
        after = files(agent.worktree)
        done = apply(plan_undo(agent.changes, agent.store, agent.worktree), agent.worktree, agent.store)
        assert done.failed == ()
        assert files(agent.worktree) == start
        apply(plan_undo(done.changes, agent.store, agent.worktree), agent.worktree, agent.store)
        assert files(agent.worktree) == after


@pytest.mark.long
@settings(max_examples=200)
@given(st.dictionaries(NAMES, CONTENT), st.integers(1, 8), st.data())
def test_with_others_about_undo_is_reversible_and_conflicts_change_nothing(
    start: dict[str, bytes], edits: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        agent = new_agent(folder, start)
        for _ in range(edits):
            edit(agent, data)
            if data.draw(st.booleans()):
                target = agent.worktree / data.draw(NAMES)
                old = target.read_bytes() if target.exists() else b""
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data.draw(spliced(old)))
        now = files(agent.worktree)
        plan = plan_undo(agent.changes, agent.store, agent.worktree)
        assert files(agent.worktree) == now
        done = apply(plan, agent.worktree, agent.store)
        assert done.failed == ()
        undone = files(agent.worktree)
        for file in plan:
            if file.outcome not in ("restore", "merge"):
                assert undone.get(file.path) == now.get(file.path)
        redo = apply(plan_undo(done.changes, agent.store, agent.worktree), agent.worktree, agent.store)
        assert files(agent.worktree) == now
        apply(plan_undo(redo.changes, agent.store, agent.worktree), agent.worktree, agent.store)
        assert files(agent.worktree) == undone


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["agent", "user"]), min_size=1, max_size=10), st.data())
def test_user_lines_in_regions_the_agent_left_alone_survive(turns: list[str], data: st.DataObject) -> None:
    # Eight regions of three lines, far enough apart to be hunks of their own: even ones are the agent's.
    start = [b"region %d\n" % number for number in range(8) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        agent = new_agent(folder, {"a": b"".join(start)})
        path = agent.worktree / "a"
        lines, expected = list(start), list(start)
        for turn, who in enumerate(turns):
            place = 6 * data.draw(st.integers(0, 3)) + (4 if who == "user" else 1)
            lines[place] = b"%s %d\n" % (who.encode(), turn)
            if who == "agent":
                agent.write("a", b"".join(lines))
            else:
                expected[place] = lines[place]
                path.write_bytes(b"".join(lines))
        apply(plan_undo(agent.changes, agent.store, agent.worktree), agent.worktree, agent.store)
        assert path.read_bytes() == b"".join(expected)
