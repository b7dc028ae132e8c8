"""Verdicts from rows to files: hunks go and come back, what others wrote stays, outcomes are said."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from sessions.changes.operations.conversation import revert, unrevert
from sessions.changes.operations.hunks import preview, put_back, redo, resolve, undo
from sessions.changes.operations.lock import Refused
from sessions.changes.review.filediffs import session_diff
from sessions.changes.review.verdicts import Listing, ReviewedFile, Scope, judge, listing
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.store import messages, operations
from tests.sessions.changes.git.conftest import git
from tests.sessions.changes.review.world import World, fresh

SESSION = Scope()
LINES = [f"line {number}" for number in range(1, 41)]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def with_lines(**changed: str) -> str:
    """The forty lines, some replaced: `l3="x"`."""
    return text([changed.get(f"l{number}", line) for number, line in enumerate(LINES, 1)])


async def session_of(world: World, title: str = "a session") -> Session:
    session = await world.session(title)
    return await in_db(lambda: Session.objects.select_related("project").get(id=session.id))


async def file_of(session: Session, path: str, scope: Scope = SESSION) -> tuple[ReviewedFile, Listing]:
    found = await listing(session, scope)
    file = found.file(path)
    assert file is not None, [other.path for other in found.files]
    return file, found


async def states_of(session: Session, path: str, scope: Scope = SESSION) -> dict[str, str]:
    file, found = await file_of(session, path, scope)
    steps = await asyncio.to_thread(judge, file, found)
    return {judged.key: judged.state for step in steps for judged in step.hunks.values()}


def read(world: World, path: str) -> str:
    return (world.root / path).read_text()


async def two_hunks(world: World) -> tuple[Session, list[str]]:
    """An agent's edit of lines 3 and 30, and the keys of both hunks."""
    world.write("f", with_lines())
    session = await session_of(world)
    await world.turn(session, {"f": with_lines(l3="agent 3", l30="agent 30")})
    return session, list(await states_of(session, "f"))


async def test_one_hunk_goes_and_comes_back_byte_for_byte(world: World) -> None:
    session, (first, second) = await two_hunks(world)
    done = await undo(session, SESSION, {"f": [first]}, words="not this", actor="me")
    assert read(world, "f") == with_lines(l30="agent 30")
    assert done.outcome[0]["hunks"] == {first: "restore"} or done.outcome[0]["hunks"] == {first: "merge"}
    assert await states_of(session, "f") == {first: "gone", second: "here"}
    file, found = await file_of(session, "f")
    assert (file.state, file.additions, file.deletions) == ("partly", 1, 1)
    judged = (await asyncio.to_thread(judge, file, found))[0].hunks[first]
    assert judged.operation == done.id
    (diff,) = await session_diff(session)
    assert (diff.additions, diff.deletions) == (1, 1)

    back = await redo(session, done.id, actor="me")
    assert read(world, "f") == with_lines(l3="agent 3", l30="agent 30")
    assert (back.kind, back.of_id) == ("redo", done.id)
    assert set((await states_of(session, "f")).values()) == {"here"}
    with pytest.raises(Refused):
        await redo(session, done.id)
    again = await redo(session, back.id)
    assert again.kind == "undo"
    assert read(world, "f") == with_lines(l30="agent 30")


async def test_one_hunk_of_several_that_were_undone_comes_back_by_itself(world: World) -> None:
    session, (first, second) = await two_hunks(world)
    done = await undo(session, SESSION, {"f": None})
    back = await put_back(session, SESSION, "f", [first])
    assert read(world, "f") == with_lines(l3="agent 3")
    (standing,) = await in_db(operations.standing, session.id, {("undo", "drop"): 10})
    assert (standing.id, [hunk["key"] for hunk in standing.hunks]) == (done.id, [second])
    with pytest.raises(Refused):
        await put_back(session, SESSION, "f", [first])
    await redo(session, back.id)
    assert read(world, "f") == with_lines()
    await put_back(session, SESSION, "f", [first, second])
    assert read(world, "f") == with_lines(l3="agent 3", l30="agent 30")
    assert await in_db(operations.standing, session.id, {("undo", "drop"): 10}) == []


async def test_all_hunks_one_after_the_other_give_the_file_before(world: World) -> None:
    session, keys = await two_hunks(world)
    for key in reversed(keys):
        await undo(session, SESSION, {"f": [key]})
    assert read(world, "f") == with_lines()
    file, _ = await file_of(session, "f")
    assert (file.state, file.additions) == ("gone", 0)
    assert await session_diff(session) == []


async def test_lines_of_others_survive_a_verdict_and_are_named(world: World) -> None:
    session, (first, _) = await two_hunks(world)
    other = await session_of(world, "the other one")
    await world.turn(other, {"f": with_lines(l3="agent 3", l15="other 15", l30="agent 30")})
    world.write("f", with_lines(l2="mine", l3="agent 3", l15="other 15", l30="agent 30"))
    file, _ = await file_of(session, "f")
    assert file.others == ("the session “the other one”", "somebody outside of this app")
    await undo(session, SESSION, {"f": [first]})
    assert read(world, "f") == with_lines(l2="mine", l15="other 15", l30="agent 30")
    await undo(other, SESSION, {"f": None})
    assert read(world, "f") == with_lines(l2="mine", l30="agent 30")


async def test_a_hunk_changed_since_is_a_conflict_and_the_rest_of_the_file_goes(world: World) -> None:
    session, (first, second) = await two_hunks(world)
    world.write("f", with_lines(l3="mine", l30="agent 30"))
    assert await states_of(session, "f") == {first: "changed", second: "here"}
    plans = await preview(session, SESSION, {"f": [first]})
    assert plans[0].conflicts[0].current == b"mine\n"
    done = await undo(session, SESSION, {"f": None})
    assert done.outcome[0]["hunks"] == {first: "conflict", second: "merge"}
    assert read(world, "f") == with_lines(l3="mine")


async def test_a_conflict_settled_by_hand_is_written_only_to_what_was_seen(world: World) -> None:
    session, (first, _) = await two_hunks(world)
    world.write("f", with_lines(l3="mine", l30="agent 30"))
    (plan,) = await preview(session, SESSION, {"f": [first]})
    chosen = with_lines(l3="both", l30="agent 30").encode()
    with pytest.raises(Refused):
        await resolve(session, SESSION, "f", [first], chosen, "0" * 40)
    done = await resolve(session, SESSION, "f", [first], chosen, plan.before_now or "")
    assert read(world, "f") == chosen.decode()
    await redo(session, done.id)
    assert read(world, "f") == with_lines(l3="mine", l30="agent 30")


async def test_what_is_gone_already_or_missing_is_said(world: World) -> None:
    session, (first, second) = await two_hunks(world)
    world.write("f", with_lines(l30="agent 30"))
    done = await undo(session, SESSION, {"f": [first]})
    assert done.outcome[0]["hunks"] == {first: "already"}
    (world.root / "f").unlink()
    done = await undo(session, SESSION, {"f": [second]})
    assert done.outcome[0]["hunks"] == {second: "missing"}
    assert not (world.root / "f").exists()
    with pytest.raises(Refused):
        await undo(session, SESSION, {"never": None})


async def test_new_removed_and_moved_files_go_as_a_whole(world: World) -> None:
    world.write("old", "moved\nas it is\n")
    world.write("gone", "gone\n")
    before = world.state()
    session = await session_of(world)
    await world.turn(session, {"old": None, "sub/moved": "moved\nas it is\n", "new": "n\n", "gone": None})
    after = world.state()
    found = await listing(session, SESSION)
    assert {file.path: file.status for file in found.files} == {
        "gone": "deleted",
        "new": "added",
        "sub/moved": "renamed",
    }
    done = await undo(session, SESSION, {file.key: None for file in found.files})
    assert world.state() == before
    assert {file.state for file in (await listing(session, SESSION)).files} == {"gone"}
    await redo(session, done.id)
    assert world.state() == after


async def test_a_turn_and_a_call_are_scopes_of_their_own(world: World) -> None:
    world.write("f", with_lines())
    session = await session_of(world)
    first = await world.turn(session, {"f": with_lines(l3="one")})
    await world.turn(session, {"f": with_lines(l3="one", l30="two")})
    assert len(await states_of(session, "f", Scope("turn"))) == 1
    done = await undo(session, Scope("turn", first), {"f": None})
    assert read(world, "f") == with_lines(l30="two")
    part = await in_db(lambda: session.changes.filter(operation=None).order_by("-id")[0].part_id)
    await undo(session, Scope("call", part=part), {"f": None})
    assert read(world, "f") == with_lines()
    await redo(session, done.id)
    assert read(world, "f") == with_lines(l3="one")


async def test_a_later_edit_after_a_verdict_leaves_one_net_change(world: World) -> None:
    session, (first, _) = await two_hunks(world)
    await undo(session, SESSION, {"f": [first]})
    await world.turn(session, {"f": with_lines(l20="agent 20", l30="agent 30")})
    file, _ = await file_of(session, "f")
    assert len(file.steps) == 1
    assert set((await states_of(session, "f")).values()) == {"here"}
    await undo(session, SESSION, {"f": None})
    assert read(world, "f") == with_lines()


async def test_undo_of_the_conversation_and_verdicts_do_not_get_in_each_others_way(world: World) -> None:
    world.write("f", with_lines())
    session = await session_of(world)
    prompt = await world.turn(session, {"f": with_lines(l3="agent 3", l30="agent 30")})
    first = next(iter(await states_of(session, "f")))
    done = await undo(session, SESSION, {"f": [first]})
    await revert(await fresh_of(session), prompt)
    assert read(world, "f") == with_lines()
    await unrevert(await fresh_of(session))
    assert read(world, "f") == with_lines(l30="agent 30")
    await redo(session, done.id)
    assert read(world, "f") == with_lines(l3="agent 3", l30="agent 30")


async def test_the_project_shows_all_sessions_and_git_the_working_tree(world: World) -> None:
    session, _ = await two_hunks(world)
    other = await session_of(world)
    await world.turn(other, {"g": "other\n"})
    world.write("kept.txt", "one\nmine\nthree\n")
    assert [file.path for file in (await listing(session, Scope("project"))).files] == ["f", "g"]
    found = await listing(session, Scope("git"))
    assert {file.path: file.status for file in found.files} == {
        "f": "added",
        "g": "added",
        "kept.txt": "modified",
    }
    done = await undo(session, Scope("git"), {"kept.txt": None})
    assert read(world, "kept.txt") == "one\ntwo\nthree\n"
    assert [str(diff.file) for diff in await session_diff(session)] == ["f"]
    await redo(session, done.id)
    assert read(world, "kept.txt") == "one\nmine\nthree\n"


async def test_a_branch_is_compared_with_where_it_began(world: World) -> None:
    for arguments in (["branch", "-m", "main"], ["switch", "-qc", "topic"]):
        git(world.root, *arguments)
    world.write("kept.txt", "one\nmine\nthree\n")
    git(world.root, "commit", "-qam", "mine")
    world.write("new.txt", "x\n")
    session = await session_of(world)
    found = await listing(session, Scope("branch"))
    assert {file.path: file.status for file in found.files} == {"kept.txt": "modified", "new.txt": "added"}
    assert [file.path for file in (await listing(session, Scope("git"))).files] == ["new.txt"]
    await undo(session, Scope("branch"), {"kept.txt": None})
    assert read(world, "kept.txt") == "one\ntwo\nthree\n"
    git(world.root, "stash", "-q")
    git(world.root, "switch", "-q", "main")
    found = await listing(session, Scope("branch"))
    assert found.files == ()
    assert "no base" in (found.problem or "")


async def test_git_without_a_commit_says_so(world: World) -> None:
    shutil.rmtree(world.root / ".git")
    session = await session_of(world)
    found = await listing(session, Scope("git"))
    assert found.files == ()
    assert found.problem


async def test_verdicts_at_once_are_carried_out_one_after_the_other(world: World) -> None:
    session, (first, second) = await two_hunks(world)
    await asyncio.gather(*(undo(session, SESSION, {"f": [key]}) for key in (first, second)))
    assert read(world, "f") == with_lines()
    assert await in_db(Operation.objects.filter(kind="undo", state="done").count) == 2


async def fresh_of(session: Session) -> Session:
    await fresh(session)
    return await in_db(lambda: Session.objects.select_related("project").get(id=session.id))


async def test_a_binary_file_and_a_mode_go_as_a_whole(world: World) -> None:
    world.write("run", "echo\n", 0o644)
    session = await session_of(world)
    prompt = await world.turn(session, {"b.bin": b"\0after"})
    answer = await in_db(lambda: messages.history(session.id)[-1]["info"]["id"])
    await world.edit(session, answer, "run", "echo\n", mode=0o755)
    found = await listing(session, Scope("turn", prompt))
    assert {file.path: file.state for file in found.files} == {"b.bin": "here", "run": "here"}
    await undo(session, SESSION, {"b.bin": None, "run": None})
    assert not (world.root / "b.bin").exists()
    assert (world.root / "run").stat().st_mode & 0o777 == 0o644
