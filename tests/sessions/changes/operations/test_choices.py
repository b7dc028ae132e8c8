"""Undo from a message on with a choice: conversation, files, some files; redo brings back just that."""

from __future__ import annotations

import os
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.changes.operations import hunks
from sessions.changes.operations.conversation import preview, revert, unrevert
from sessions.changes.operations.lock import Refused
from sessions.changes.review.filediffs import session_diff
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import FileChange, Message, Operation, Part, Session
from sessions.core.store import leases, operations
from sessions.core.store import sessions as session_store
from sessions.core.store.forks import fork
from sessions.core.wire.session import Status
from tests.sessions.changes.review.world import World, fresh

EDITS = {"a.txt": "a\n", "b.txt": "b\n", "kept.txt": "changed\n"}


async def last(session: Session) -> Operation:
    return await in_db(lambda: Operation.objects.filter(session=session).latest("id"))


async def files_of(session: Session) -> set[str]:
    return {str(diff.file) for diff in await session_diff(session)}


async def test_only_the_conversation(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, EDITS)
    after = world.state()
    session = await revert(session, prompt, what="conversation")
    assert world.state() == after
    assert session.revert is not None
    assert await files_of(session) == set(EDITS), "the files still have it"
    session = await unrevert(session)
    assert world.state() == after
    assert session.revert is None


async def test_only_files_and_redo_for_ever(world: World) -> None:
    session = await world.session()
    before = world.state()
    prompt = await world.turn(session, EDITS)
    after = world.state()
    session = await revert(session, prompt, what="files", actor="me")
    operation = await last(session)
    assert (operation.kind, operation.actor) == ("undo", "me")
    assert operation.scope == {"kind": "from", "message": prompt}
    assert world.state() == before
    assert session.revert is None
    assert await files_of(session) == set()
    await world.turn(session, {"later.txt": "later\n"})
    await in_db(operations.make_final, session.id)
    await hunks.redo(session, operation.id)
    assert world.state() == after | {"later.txt": world.state()["later.txt"]}


@pytest.mark.parametrize("what", ["both", "files"])
async def test_some_of_the_files(world: World, what: Any) -> None:
    session = await world.session()
    before = world.state()
    prompt = await world.turn(session, EDITS)
    after = world.state()
    session = await revert(session, prompt, what=what, paths={"a.txt", "kept.txt"})
    assert world.state() == before | {"b.txt": after["b.txt"]}
    assert await files_of(session) == {"b.txt"}, "what was left out still counts"
    world.write("b.txt", "mine\n")
    if what == "both":
        await unrevert(session)
    else:
        await hunks.redo(session, (await last(session)).id)
    assert (world.root / "b.txt").read_text() == "mine\n", "a redo touches what the undo did, and no more"
    assert {path: world.state()[path] for path in ("a.txt", "kept.txt")} == {
        path: after[path] for path in ("a.txt", "kept.txt")
    }


async def test_left_out_files_through_two_undos(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"a.txt": "1\n", "b.txt": "1\n"})
    second = await world.turn(session, {"a.txt": "2\n", "b.txt": "2\n"})
    after = world.state()
    session = await revert(session, second, paths={"a.txt"})
    assert ((world.root / "a.txt").read_text(), (world.root / "b.txt").read_text()) == ("1\n", "2\n")
    session = await revert(session, first, paths={"b.txt"})
    assert (world.root / "a.txt").read_text() == "1\n", "as the first undo left it"
    assert not (world.root / "b.txt").exists()
    await unrevert(session)
    assert world.state() == after


async def test_conversation_alone_while_an_undo_is_active(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"a.txt": "1\n"})
    second = await world.turn(session, {"a.txt": "2\n"})
    after = world.state()
    session = await revert(session, second)
    session = await revert(session, first, what="conversation")
    assert (world.root / "a.txt").read_text() == "1\n"
    assert session.revert is not None
    assert session.revert["messageID"] == first
    await unrevert(session)
    assert world.state() == after


async def test_a_conflict_is_in_no_choice(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "one\nAGENT\nthree\n", "a.txt": "a\n"})
    world.write("kept.txt", "one\nMINE\nthree\n")
    session = await revert(session, prompt, what="files", paths={"a.txt"})
    assert (world.root / "kept.txt").read_text() == "one\nMINE\nthree\n"
    with pytest.raises(Refused, match="no file"):
        await revert(session, prompt, what="files", paths={"unknown.txt"})


async def test_files_of_a_running_turn_are_refused(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, EDITS)
    after = world.state()
    assert await in_db(leases.claim, session.id, "worker", 3600)
    await in_db(session_store.set_status, session.id, Status(type="busy"))
    for what in ("files", "conversation", "both"):
        with pytest.raises(Refused, match="Stop the turn"):
            await revert(session, prompt, what=what)
    assert world.state() == after
    assert await in_db(Operation.objects.count) == 0


async def test_a_fork_takes_no_files_of_its_original_back(world: World) -> None:
    session = await world.session()
    await world.turn(session, EDITS)
    after = world.state()
    copy = await in_db(fork, session)
    prompt = await in_db(lambda: Message.objects.filter(session=copy, role="user").get().id)
    assert (await preview(copy, prompt)).files == ()
    copy = await revert(copy, prompt)
    assert copy.revert is not None
    assert world.state() == after
    own = await world.turn(copy, {"own.txt": "own\n"})
    await revert(await fresh(copy), own)
    assert world.state() == after


async def test_redo_removes_the_folders_that_the_undo_made(world: World) -> None:
    world.write("old/deep/gone.txt", "g\n")
    session = await world.session()
    prompt = await world.turn(session, {"old/deep/gone.txt": None})
    for folder in ("old/deep", "old"):
        (world.root / folder).rmdir()
    after = world.state()
    session = await revert(session, prompt)
    assert (world.root / "old/deep/gone.txt").exists()
    await unrevert(session)
    assert world.state() == after


async def errand(session: Session, parent_message: str, child: Session, prompt: str) -> Part:
    """The call that sent a child to work, still running."""
    state = {"status": "running", "input": {}, "time": {"start": 1}}
    state["metadata"] = {"sessionId": child.id, "promptId": prompt}
    return await in_db(
        Part.objects.create,
        id=ascending("prt"),
        message_id=parent_message,
        session=session,
        type="tool",
        data={"callID": "c", "tool": "task", "state": state},
    )


async def answer_of(session: Session) -> str:
    return await in_db(lambda: Message.objects.filter(session=session, role="assistant").latest("id").id)


async def below(world: World, parent: Session) -> Session:
    return await in_db(session_store.create, world.project, str(world.root), title="child", parent=parent.id)


async def test_a_session_in_the_middle_takes_back_what_it_had_done_below(world: World) -> None:
    top = await world.session()
    first = await world.turn(top)
    middle = await below(world, top)
    middle_prompt = await world.turn(middle)
    await errand(top, await answer_of(top), middle, middle_prompt)
    leaf = await below(world, middle)
    early = await world.turn(leaf, {"early.txt": "early\n"})
    await errand(middle, await answer_of(middle), leaf, early)
    before = world.state()
    later_prompt = await world.turn(middle, {"middle.txt": "m\n"})
    await in_db(lambda: FileChange.objects.filter(path="middle.txt").update(for_session=top))
    late = await world.turn(leaf)
    await errand(middle, await answer_of(middle), leaf, late)
    await world.edit(leaf, await answer_of(leaf), "late.txt", "late\n")
    after = world.state()
    assert {row.path for row in (await preview(middle, later_prompt)).files} == {"middle.txt", "late.txt"}
    middle = await revert(middle, later_prompt)
    assert world.state() == before
    await unrevert(middle)
    assert world.state() == after
    await revert(top, first)
    assert not (world.root / "late.txt").exists()


async def test_what_git_ignores_is_named(world: World) -> None:
    world.write(".gitignore", "*.log\nbuild/\n")
    world.write("old.log", "old\n")
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    created = await in_db(lambda: Message.objects.get(id=prompt).time_created)
    os.utime(world.root / "old.log", (created / 1000 - 60, created / 1000 - 60))
    assert (await preview(session, prompt)).not_covered == (), "no command ran"
    data = {"callID": "c", "tool": "bash", "state": {"status": "completed"}}
    answer = await answer_of(session)
    await in_db(
        Part.objects.create,
        id=ascending("prt"),
        message_id=answer,
        session=session,
        type="tool",
        data=data,
    )
    found: list[FileChange] = []
    running = world.tracker.begin(found.extend)
    world.write("build/deep/out.bin", "new\n")
    world.write("new <b>.log", "new\n")
    world.tracker.end(running)
    names = [file.name for file in (await preview(session, prompt)).not_covered]
    assert names == ["build/", "new <b>.log"]


async def test_the_form(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    before = world.state()
    prompt = await world.turn(session, EDITS)
    after = world.state()
    url = f"/p/{session.project_id}/s/{session.id}/undo/{prompt}"
    dialog = (await async_client.get(url)).content.decode()
    assert dialog.count('name="path"') == 3
    assert 'value="conversation"' in dialog
    refused = await async_client.post(url, {"what": "files", "listed": "1"})
    assert refused.status_code == 422
    assert "Choose a file" in refused.content.decode()
    done = await async_client.post(url, {"what": "files", "listed": "1", "path": ["a.txt", "no such"]})
    assert "Undone: 1 file changed." in done.content.decode()
    assert "Redo" in done.content.decode()
    assert world.state() == {path: state for path, state in after.items() if path != "a.txt"}
    await async_client.post(url, {"what": "nonsense"})
    assert world.state() == before
    assert (await fresh(session)).revert is not None


async def test_what_is_left_alone_is_told_with_the_rest(world: World, async_client: AsyncClient) -> None:
    """The form has no box for a file that would not be written; its outcome is noted all the same."""
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "one\nAGENT\nthree\n", "a.txt": "a\n", "b.txt": "b\n"})
    world.write("kept.txt", "one\nMINE\nthree\n")
    (world.root / "b.txt").unlink()
    url = f"/p/{session.project_id}/s/{session.id}/undo/{prompt}"
    assert (await async_client.get(url)).content.decode().count('name="path"') == 1
    done = await async_client.post(url, {"what": "both", "listed": "1", "path": ["a.txt"]})
    assert "1 file changed. 1 file left alone because of conflicts" in done.content.decode()
    assert await files_of(session) == {"kept.txt"}, "what is gone from the files no longer counts"
