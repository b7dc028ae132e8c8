"""Undo and redo from store to files: what the agent did goes and comes back, what others did stays."""

from __future__ import annotations

import asyncio
import stat

import pytest

from sessions.changes.operations.conversation import (
    Choice,
    UnknownMessage,
    bring_back,
    preview,
    revert,
    told,
    undo_from,
    unrevert,
)
from sessions.changes.operations.lock import ProjectBusy, Refused, project_lock
from sessions.changes.review.filediffs import session_diff
from sessions.changes.tracking import as_change
from sessions.changes.undo.plan import fold
from sessions.core.db import in_db, in_db_sync
from sessions.core.ids import ascending
from sessions.core.models import FileChange, Message, Operation, Session
from sessions.core.store import leases, ledger, operations
from sessions.core.store import sessions as session_store
from sessions.core.store.messages import put_part
from sessions.core.wire.parts import Pending, TextPart, ToolPart
from sessions.core.wire.session import Status
from sessions.web.review.display.undoing import ended
from tests.sessions.changes.review.world import World, fresh


async def outcomes(session: Session) -> dict[str, str]:
    operation = await in_db(lambda: Operation.objects.filter(session=session).order_by("-id")[0])
    return {entry["path"]: entry["outcome"] for entry in operation.outcome}


async def files_of(session: Session, message_id: str | None = None) -> dict[str, tuple[str, int, int]]:
    found = await session_diff(session, message_id)
    return {str(diff.file): (str(diff.status), diff.additions, diff.deletions) for diff in found}


async def test_undo_then_redo_is_identity(world: World) -> None:
    world.write("run.sh", "#!/bin/sh\necho 1\n", 0o755)
    world.write("gone.txt", "old\n")
    before = world.state()
    session = await world.session()
    prompt = await world.turn(
        session,
        {
            "kept.txt": "one\nTWO\nthree\n",
            "run.sh": "#!/bin/sh\necho 2\n",
            "gone.txt": None,
            "made/deep/new.txt": "new\n",
            "odd \udcff name.txt": "bytes\n",
        },
    )
    after = world.state()

    session = await revert(session, prompt)
    assert world.state() == before
    assert session.revert is not None
    assert session.revert["messageID"] == prompt
    assert "+two" in session.revert["diff"]
    assert session.summary == {"additions": 0, "deletions": 0, "files": 0}
    assert await files_of(session) == {}

    session = await unrevert(session)
    assert world.state() == after
    assert session.revert is None
    assert (await files_of(session))["kept.txt"] == ("modified", 1, 1)
    assert session.summary["files"] == 5


async def test_a_mode_alone_is_undone_and_redone(world: World) -> None:
    world.write("tool.py", "pass\n", 0o644)
    session = await world.session()
    prompt = await world.turn(session)
    answer = ascending("msg")
    await world.edit(session, answer, "tool.py", "pass\n", mode=0o755)
    assert await files_of(session) == {"tool.py": ("modified", 0, 0)}
    await revert(session, prompt)
    assert (world.root / "tool.py").stat().st_mode & 0o777 == 0o644
    await unrevert(await fresh(session))
    assert (world.root / "tool.py").stat().st_mode & 0o777 == 0o755


async def test_what_the_person_wrote_stays(world: World) -> None:
    world.write("kept.txt", "".join(f"{n}\n" for n in range(1, 21)))
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "".join(f"{n}\n" for n in range(1, 20)) + "agent\n"})
    world.write("kept.txt", "mine\n" + (world.root / "kept.txt").read_text())
    await revert(session, prompt)
    assert (world.root / "kept.txt").read_text() == "mine\n" + "".join(f"{n}\n" for n in range(1, 21))
    assert await outcomes(session) == {"kept.txt": "merge"}
    world.write("kept.txt", "mine too\n" + (world.root / "kept.txt").read_text())
    await unrevert(await fresh(session))
    assert (world.root / "kept.txt").read_text().startswith("mine too\nmine\n1\n")
    assert (world.root / "kept.txt").read_text().endswith("19\nagent\n")


async def test_two_sessions_in_one_project_leave_each_other_alone(world: World) -> None:
    world.write("shared.txt", "".join(f"{n}\n" for n in range(20)))
    one, other = await world.session("one"), await world.session("other")
    text = (world.root / "shared.txt").read_text()
    first = await world.turn(one, {"shared.txt": text.replace("2\n", "two\n", 1), "one.txt": "1\n"})
    text = (world.root / "shared.txt").read_text()
    await world.turn(other, {"shared.txt": text.replace("17\n", "seventeen\n"), "other.txt": "2\n"})
    await revert(one, first)
    assert "two" not in (world.root / "shared.txt").read_text()
    assert "seventeen" in (world.root / "shared.txt").read_text()
    assert not (world.root / "one.txt").exists()
    assert (world.root / "other.txt").exists()
    assert set(await files_of(other)) == {"shared.txt", "other.txt"}


async def test_what_a_command_has_done_so_far_comes_before_an_undo_that_does_not_wait_for_it(
    world: World,
) -> None:
    mine, other = await world.session("mine"), await world.session("other")
    world.write("kept.txt", "one\ntwo\nthree\n")
    prompt = await world.turn(mine, {"kept.txt": "ONE\ntwo\nthree\n"})

    def record(found: list[FileChange]) -> None:
        in_db_sync(ledger.add, other, found)

    running = await asyncio.to_thread(world.tracker.begin, record)
    world.write("kept.txt", "ONE\ntwo\nTHREE\n")
    await revert(mine, prompt)
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nTHREE\n"
    await asyncio.to_thread(world.tracker.end, running)
    rows = await in_db(lambda: list(FileChange.objects.order_by("id")))
    assert [row.session_id for row in rows] == [mine.id, other.id, mine.id]
    assert len(fold([as_change(row) for row in rows])) == 1, "each goes on from the one before"


async def test_a_conflict_is_shown_and_leaves_the_file_alone(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "one\nAGENT\nthree\n", "new.txt": "new\n"})
    world.write("kept.txt", "one\nMINE\nthree\n")
    shown = {file.path: file for file in (await preview(session, prompt)).files}
    assert shown["kept.txt"].outcome == "conflict"
    assert shown["kept.txt"].conflicts[0].current == b"MINE\n"
    assert (world.root / "new.txt").exists()
    session = await revert(session, prompt)
    assert (world.root / "kept.txt").read_text() == "one\nMINE\nthree\n"
    assert await outcomes(session) == {"kept.txt": "conflict", "new.txt": "restore"}
    assert set(await files_of(session)) == {"kept.txt"}, "the agent's change still counts"


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 1, 3), (3, 1, 2)])
async def test_undo_while_undone_ends_where_it_should(world: World, order: tuple[int, ...]) -> None:
    session = await world.session()
    states, prompts = [world.state()], []
    for content in ("a\n", "a\nb\n", "a\nb\nc\n"):
        prompts.append(await world.turn(session, {"kept.txt": content, f"{len(content)}.txt": content}))
        states.append(world.state())
    for number in order:
        session = await revert(await fresh(session), prompts[number - 1])
        assert world.state() == states[number - 1]
        assert session.summary["files"] == len(await files_of(session))
    session = await unrevert(session)
    assert world.state() == states[3]
    assert set(await files_of(session)) == {"kept.txt", "2.txt", "4.txt", "6.txt"}


async def test_a_new_prompt_makes_it_final(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"kept.txt": "first\n"})
    second = await world.turn(session, {"kept.txt": "second\n", "b.txt": "b\n"})
    await revert(session, second)
    await in_db(operations.make_final, session.id)
    ids = await in_db(lambda: list(Message.objects.filter(session=session).values_list("id", flat=True)))
    assert second not in ids
    assert first in ids
    assert (await fresh(session)).revert is None
    before = world.state()
    await unrevert(await fresh(session))
    assert world.state() == before, "there is nothing left to redo"
    assert await in_db(FileChange.objects.filter(path="b.txt", operation=None).count) == 1, "kept as audit"
    assert set(await files_of(session)) == {"kept.txt"}
    third = await world.turn(session, {"kept.txt": "third\n"})
    assert await files_of(session, third) == {"kept.txt": ("modified", 1, 1)}
    await revert(await fresh(session), first)
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"


async def test_final_without_an_undo_does_nothing(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "x\n"})
    await in_db(operations.make_final, session.id)
    assert await in_db(Message.objects.filter(id=prompt).exists)
    assert set(await files_of(session)) == {"kept.txt"}


async def test_undo_from_a_part_takes_back_that_part_and_what_follows(world: World) -> None:
    session = await world.session()
    await world.turn(session)
    answer = await in_db(lambda: Message.objects.filter(session=session, role="assistant")[0].id)
    parts = [ascending("prt") for _ in range(2)]
    await world.edit(session, answer, "a.txt", "a\n", part_id=parts[0])
    await world.edit(session, answer, "b.txt", "b\n", part_id=parts[1])
    await in_db(_put_text_parts, session.id, answer, parts)
    session = await revert(session, answer, parts[1])
    assert (world.root / "a.txt").exists()
    assert not (world.root / "b.txt").exists()
    await in_db(operations.make_final, session.id)
    left = await in_db(lambda: list(Message.objects.get(id=answer).parts.values_list("id", flat=True)))
    assert left == parts[:1]


def _put_text_parts(session_id: str, message_id: str, ids: list[str]) -> None:
    for part_id in ids:
        put_part(TextPart(id=part_id, session_id=session_id, message_id=message_id, text="t"))


async def test_an_answer_is_undone_with_its_question(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    answer = await in_db(lambda: Message.objects.filter(session=session, role="assistant")[0].id)
    session = await revert(session, answer)
    assert session.revert is not None
    assert session.revert["messageID"] == prompt


async def test_a_running_turn_is_not_undone(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"a.txt": "a\n"})
    lease = await in_db(leases.claim, session.id, "worker", 3600)
    assert lease is not None
    await in_db(session_store.set_status, session.id, Status(type="busy"))
    with pytest.raises(Refused, match="Stop the turn"):
        await revert(session, prompt)
    assert (world.root / "a.txt").exists()
    await in_db(session_store.set_status, session.id, Status(type="idle"))
    await in_db(leases.release, lease)
    await revert(session, prompt)
    assert not (world.root / "a.txt").exists()
    assert (await fresh(session)).lease_owner == ""


async def test_of_two_undos_at_once_one_is_refused(world: World) -> None:
    one, other = await world.session("one"), await world.session("other")
    first = await world.turn(one, {"a.txt": "a\n"})
    second = await world.turn(other, {"b.txt": "b\n"})
    ended = await asyncio.gather(revert(one, first), revert(other, second), return_exceptions=True)
    assert sum(isinstance(result, ProjectBusy) for result in ended) == 1
    assert sum(isinstance(result, Session) for result in ended) == 1
    with project_lock(world.project.id), pytest.raises(ProjectBusy):
        await unrevert(one)


async def test_messages_of_other_sessions_are_unknown(world: World) -> None:
    session, other = await world.session(), await world.session()
    foreign = await world.turn(other, {"a.txt": "a\n"})
    for message_id in (foreign, "msg_nothing"):
        with pytest.raises(UnknownMessage):
            await revert(session, message_id)
    assert (world.root / "a.txt").exists()
    assert await in_db(ledger.by_tools(other.id).count) == 1


async def test_the_answer_says_what_was_left(world: World) -> None:
    (world.root / ".gitignore").write_text("*.log\n")
    (world.root / "same").write_text("one\n")
    session = await world.session()
    prompt = await world.turn(session, {"same": "two\n", "new": "agent\n"})
    answer = await in_db(lambda: Message.objects.filter(session=session).order_by("-id")[0].id)
    await world.edit(session, answer, "private", "x", mode=0o600)
    part = ToolPart(
        id=ascending("prt"),
        session_id=session.id,
        message_id=answer,
        call_id="call",
        tool="bash",
        state=Pending(),
    )
    await in_db(put_part, part)
    (world.root / "a.log").write_text("a line\n")
    (world.root / "same").write_text("three\n")
    shown = await preview(session, prompt)
    assert [file.name for file in shown.not_covered] == ["a.log"]
    operation = await undo_from(session, prompt, None, Choice())
    lists = told(operation)
    assert [entry["file"] for entry in lists["changed"]] == ["new", "private"]
    assert lists["conflicts"] == [{"file": "same", "reason": "the same lines have been changed since"}]
    assert [entry["file"] for entry in lists["notCovered"]] == ["a.log"]
    assert "Not covered, and left as it is: a.log." in ended("Undone", operation.outcome)
    again = await bring_back(await fresh(session))
    assert {entry["file"] for entry in told(again)["changed"]} == {"new", "private"}
    assert stat.S_IMODE((world.root / "private").stat().st_mode) == 0o600
