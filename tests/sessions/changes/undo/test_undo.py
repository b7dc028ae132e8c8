from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sessions.changes.snapshots.changes import TOO_LARGE, Change
from sessions.changes.undo.apply import Applied, apply
from sessions.changes.undo.plan import FilePlan, fold, plan_undo

from .conftest import Agent

TEN = b"".join(b"line %d\n" % number for number in range(1, 11))


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, link and folder with its mode and content."""
    found = {}
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        content = os.fsencode(path.readlink()) if path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (mode, path.read_bytes() if stat.S_ISREG(mode) else content)
    return found


def plan(agent: Agent, changes: list[Change] | None = None) -> dict[str, FilePlan]:
    wanted = agent.changes if changes is None else changes
    return {file.path: file for file in plan_undo(wanted, agent.store, agent.worktree)}


def undo(agent: Agent, changes: list[Change] | None = None) -> Applied:
    return apply(plan(agent, changes).values(), agent.worktree, agent.store)


def test_undo_and_redo_of_everything_a_file_can_go_through(agent: Agent) -> None:
    work = agent.worktree
    (work / "edited").write_bytes(b"crlf\r\nno end")
    (work / "edited").chmod(0o640)
    (work / "removed").write_bytes(b"\0binary")
    (work / "removed").chmod(0o600)
    (work / "script").write_bytes(b"#!/bin/sh\n")
    (work / "link").symlink_to("edited")
    (work / "kept-folder").mkdir()
    before = state(work)
    agent.write("edited", b"crlf\r\nmore\r\n")
    agent.write("edited", b"crlf\r\nmore still\r\n")
    agent.write("new/deep/file", b"new")
    agent.write("new/second", b"second")
    agent.write("kept-folder/file", b"x")
    agent.write("script", b"#!/bin/sh\n", 0o755)
    link = agent.store.put(b"edited"), agent.store.put(b"script")
    (work / "link").unlink()
    (work / "link").symlink_to("script")
    agent.changes.append(Change("link", *link, 0o120000, 0o120000))
    removed = Change("removed", agent.store.put(b"\0binary"), None, 0o100600, None)
    (work / "removed").unlink()
    agent.changes.append(removed)
    after = state(work)

    preview = plan(agent)
    assert state(work) == after
    assert {file.outcome for file in preview.values()} == {"restore"}
    assert (preview["edited"].additions, preview["edited"].deletions) == (1, 1)
    done = undo(agent)
    assert done.failed == ()
    assert state(work) == before
    redone = undo(agent, list(done.changes))
    assert state(work) == after
    undo(agent, list(redone.changes))
    assert state(work) == before


def test_edits_of_others_survive_before_between_and_after(agent: Agent) -> None:
    path = agent.worktree / "a"
    path.write_bytes(TEN)
    agent.write("a", TEN.replace(b"line 2", b"agent 2"))
    path.write_bytes(path.read_bytes().replace(b"line 5", b"user 5"))
    agent.write("a", path.read_bytes().replace(b"line 8", b"agent 8"))
    path.write_bytes(path.read_bytes() + b"user end\n")
    assert len(fold(agent.changes)) == 2
    assert plan(agent)["a"].outcome == "merge"
    changed = path.read_bytes()
    done = undo(agent)
    assert path.read_bytes() == TEN.replace(b"line 5", b"user 5") + b"user end\n"
    undo(agent, list(done.changes))
    assert path.read_bytes() == changed


def test_a_conflict_leaves_the_file_alone_and_shows_both_sides(agent: Agent) -> None:
    path = agent.worktree / "a"
    path.write_bytes(TEN)
    agent.write("a", TEN.replace(b"line 5", b"agent"))
    agent.write("b", b"b")
    path.write_bytes(TEN.replace(b"line 5", b"user"))
    file = plan(agent)["a"]
    assert file.outcome == "conflict"
    (conflict,) = file.conflicts
    assert (conflict.line, conflict.current, conflict.base, conflict.other) == (
        5,
        b"user\n",
        b"agent\n",
        b"line 5\n",
    )
    assert [change.path for change in undo(agent).changes] == ["b"]
    assert path.read_bytes() == TEN.replace(b"line 5", b"user")


def test_outcomes_when_the_file_is_not_what_it_was(agent: Agent) -> None:
    work = agent.worktree
    for name in ("back", "gone"):
        (work / name).write_bytes(TEN)
        agent.write(name, b"agent\n")
    (work / "back").write_bytes(TEN)
    (work / "gone").unlink()
    agent.write("made-gone", b"x")
    (work / "made-gone").unlink()
    agent.write("made-grown", b"x\n")
    (work / "made-grown").write_bytes(b"x\nuser\n")
    agent.write("folder", b"x")
    (work / "folder").unlink()
    (work / "folder").mkdir()
    before = state(work)
    assert {path: file.outcome for path, file in plan(agent).items()} == {
        "back": "already",
        "gone": "missing",
        "made-gone": "already",
        "made-grown": "conflict",
        "folder": "unsafe",
    }
    assert undo(agent) == Applied((), ())
    assert state(work) == before


def test_what_changed_since_the_preview_is_not_overwritten(agent: Agent) -> None:
    path = agent.worktree / "a"
    path.write_bytes(b"before")
    agent.write("a", b"agent")
    preview = plan(agent).values()
    path.write_bytes(b"user")
    done = apply(preview, agent.worktree, agent.store)
    assert [(file.path, file.outcome) for file in done.failed] == [("a", "conflict")]
    assert done.changes == ()
    assert path.read_bytes() == b"user"


def test_no_way_leads_out_of_the_worktree(agent: Agent, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "sub" / "a").write_bytes(b"agent")
    oid, before = agent.store.put(b"agent"), agent.store.put(b"before")
    (agent.worktree / "sub").symlink_to(outside / "sub")
    (agent.worktree / ".git").mkdir()
    (agent.worktree / ".git" / "config").write_bytes(b"agent")
    (agent.worktree / "loop").symlink_to("loop")
    paths = ["sub/a", "../outside/sub/a", str(outside / "sub" / "a"), ".git/config", "loop/a", ""]
    changes = [Change(path, before, oid, 0o100644, 0o100644) for path in paths]
    assert {path: file.outcome for path, file in plan(agent, changes).items()} == dict.fromkeys(
        paths, "unsafe"
    )
    forced = [FilePlan(path, "restore", oid, 0o100644, before, 0o100644) for path in paths]
    assert len(apply(forced, agent.worktree, agent.store).failed) == len(paths)
    assert (outside / "sub" / "a").read_bytes() == b"agent"
    assert (agent.worktree / ".git" / "config").read_bytes() == b"agent"


def test_a_link_put_in_the_way_after_the_preview_is_not_followed(agent: Agent, tmp_path: Path) -> None:
    (agent.worktree / "a").write_bytes(b"before")
    agent.write("a", b"agent")
    (tmp_path / "victim").write_bytes(b"agent")
    preview = plan(agent).values()
    (agent.worktree / "a").unlink()
    (agent.worktree / "a").symlink_to(tmp_path / "victim")
    assert apply(preview, agent.worktree, agent.store).changes == ()
    assert (tmp_path / "victim").read_bytes() == b"agent"


def test_one_failure_does_not_stop_the_others(agent: Agent) -> None:
    for name in ("a", "deep/b", "c"):
        agent.write(name, b"x")
        agent.write(name, None)
    (agent.worktree / "deep").rmdir()
    changes = [change for change in agent.changes if change.after is None]
    preview = plan(agent, changes).values()
    (agent.worktree / "deep").write_bytes(b"a file where the folder was")
    done = apply(preview, agent.worktree, agent.store)
    assert [change.path for change in done.changes] == ["a", "c"]
    assert [(file.path, file.outcome) for file in done.failed] == [("deep/b", "unsafe")]
    assert done.failed[0].reason
    assert not list(agent.worktree.rglob(".undo-*"))


@pytest.mark.parametrize("unknown", ["skipped", "lost"])
def test_content_that_was_not_kept_is_never_guessed(agent: Agent, unknown: str) -> None:
    (agent.worktree / "a").write_bytes(b"now")
    now = agent.store.put(b"now")
    change = {
        "skipped": Change("a", None, now, None, 0o100644, TOO_LARGE),
        "lost": Change("a", "0" * 40, now, 0o100644, 0o100644),
    }[unknown]
    assert plan(agent, [change])["a"].outcome == "conflict"
    assert undo(agent, [change]).changes == ()
    assert (agent.worktree / "a").read_bytes() == b"now"
