"""The timeline has everything that happened, in order, from rows alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions.changes.history.moments import KINDS, Moment
from sessions.changes.history.timeline import Timeline, collect, timeline
from sessions.changes.operations import conversation
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import Decision, Message, PermissionRequest, Session
from sessions.core.store import forks, messages, operations, permissions, questions
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import SERVER_ENDED, AssistantMessage
from sessions.core.wire.questions import QuestionInfo
from sessions.web.timeline import marks
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.talk import Talk


def told(moments: list[Moment]) -> list[tuple[str, str]]:
    return [(moment.kind, moment.title) for moment in moments]


async def talk_in(world: World) -> Talk:
    return Talk(world.project, await world.session("Talk"))


async def test_turns_edits_and_undo_in_order(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"kept.txt": "ONE\ntwo\nthree\n", "new.txt": "made\n"})
    await world.turn(session, {"kept.txt": "ONE\ntwo\nTHREE\n"})
    await conversation.revert(session, first)
    await conversation.unrevert(await fresh(session))
    found = await in_db(collect, await fresh(session))
    assert told(found) == [
        ("turn", "Prompt"),
        ("edit", "Edit"),
        ("edit", "Edit"),
        ("turn", "Prompt"),
        ("edit", "Edit"),
        ("undo", "Undo of a part of the conversation"),
        ("undo", "Redo of a part of the conversation"),
    ]
    assert [file.path for file in found[5].files] == ["kept.txt", "new.txt"]
    changes = [moment.change for moment in found]
    assert changes == sorted(changes)
    assert (changes[0], changes[3]) == (0, changes[2])
    assert len({moment.key for moment in found}) == len(found)


async def test_what_is_undone_says_so_and_what_is_gone_has_no_way_to_it(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"new.txt": "made\n"})
    await conversation.revert(session, first)
    found = await in_db(collect, await fresh(session))
    assert found[0].note.endswith("undone")
    await in_db(operations.make_final, session.id)
    found = await in_db(collect, await fresh(session))
    assert told(found) == [("edit", "Edit"), ("undo", "Undo of a part of the conversation")]
    assert [moment.message for moment in found] == ["", ""]


async def test_a_command_is_named_and_a_turn_has_its_time_and_cost(world: World) -> None:
    talk = await talk_in(world)
    prompt = await talk.prompt("Do it " + "x" * 1000)
    answer = await talk.answer(prompt, cost=0.25)
    state = {"status": "completed", "input": {"command": "make <b>"}, "output": "", "title": ""}
    part = await talk.part(
        answer, "tool", callID="c", tool="bash", state={**state, "time": {"start": 1, "end": 2}}
    )
    await world.edit(talk.session, answer, "new.txt", "made\n", part_id=part.id)
    await ended(answer, talk)
    shown = await in_db(timeline, talk.session)
    turn, edit = shown.moments
    assert (turn.detail[:6], len(turn.detail), turn.cost) == ("Do it ", 300, 0.25)
    assert turn.took is not None
    assert turn.note == "build · scripted"
    assert (edit.title, edit.detail, edit.message) == ("Command", "make <b>", answer)


async def ended(answer: str, talk: Talk, **fields: Any) -> None:
    wire = (await in_db(messages.message, talk.session.id, answer) or {})["info"]
    wire["time"]["completed"] = now()
    await in_db(messages.put_message, AssistantMessage.model_validate(wire | fields))


@pytest.mark.parametrize(
    ("error", "title", "tone"),
    [
        ({"name": "MessageAbortedError", "data": {"message": "Stopped."}}, "Stopped by you", ""),
        (
            {"name": "MessageAbortedError", "data": {"message": SERVER_ENDED}},
            "Interrupted: the server ended",
            "warn",
        ),
        ({"name": "APIError", "data": {"message": "no"}}, "The provider answered with an error", "warn"),
    ],
)
async def test_how_a_turn_ended_otherwise(world: World, error: dict[str, Any], title: str, tone: str) -> None:
    talk = await talk_in(world)
    answer = await talk.answer(await talk.prompt())
    await ended(answer, talk, error=error)
    ending = (await in_db(collect, talk.session))[-1]
    assert (ending.kind, ending.title, ending.tone) == ("ending", title, tone)


async def asked(session: Session) -> PermissionRequest:
    return await in_db(
        permissions.ask,
        session,
        message_id="",
        call_id="c",
        agent="build",
        permission="bash",
        patterns=["rm *"],
        always=[],
        metadata={},
        arguments_hash="",
    )


async def test_permissions_say_who_answered_and_how(world: World) -> None:
    parent = await world.session("Above")
    child = await in_db(session_store.create, world.project, "/", title="Below", parent=parent.id)
    own, below = await asked(parent), await asked(child)
    waits = await in_db(collect, parent)
    assert [moment.note for moment in waits if moment.kind == "ask"] == [
        "Waits for an answer",
        "Waits for an answer · asked by Below",
    ]
    await in_db(PermissionRequest.objects.filter(id=own.id).update, state="once", time_answered=now())
    audit = {"project_id": world.project.id, "permission": "bash", "time_created": now()}
    await in_db(
        Decision.objects.create, request_id=own.id, session_id=parent.id, verdict="allow", by="person",
        scope="turn", actor="browser 1234", **audit,
    )  # fmt: skip
    await in_db(Decision.objects.create, session_id=child.id, verdict="deny", by="rule", rule="x", **audit)
    found = {moment.key: moment for moment in await in_db(collect, parent) if moment.kind == "ask"}
    assert found[own.id].note == "Allowed for this turn by browser 1234"
    assert found[own.id].took is not None
    assert found[below.id].title == "Permission: bash"
    (denied,) = (moment for moment in found.values() if moment.title == "Denied: bash")
    assert denied.note == "by a saved rule x · asked by Below"


async def test_questions_subagents_compactions_and_forks(world: World) -> None:
    talk = await talk_in(world)
    info = QuestionInfo.model_validate({"question": "Which?", "header": "H", "options": []})
    row = await in_db(questions.ask, talk.session, [info], message_id="", call_id="", tool="question")
    await in_db(questions.reply, row.id, [["this one"]])
    child = await in_db(session_store.create, world.project, "/", title="Looks", parent=talk.session.id)
    marker = ascending("msg")
    await in_db(Message.objects.create, **_user_row(talk.session, marker))
    await talk.part(marker, "compaction", auto=True)
    copy = await in_db(forks.fork, talk.session)
    found = {moment.kind: moment for moment in await in_db(collect, talk.session)}
    assert (found["ask"].detail, found["ask"].note) == ("Which?", "Answered · this one")
    assert found["agent"].url.endswith(child.id)
    assert found["compaction"].title == "Compaction, by itself"
    assert found["fork"].url.endswith(copy.id)
    begun = [moment for moment in await in_db(collect, await fresh(copy)) if moment.kind == "fork"]
    assert [(moment.title, moment.detail) for moment in begun] == [("Forked from", "Talk")]


def _user_row(session: Session, message_id: str) -> dict[str, Any]:
    return {
        "id": message_id,
        "session": session,
        "role": "user",
        "time_created": now(),
        "data": {"time": {"created": now()}, "agent": "build"},
    }


async def test_a_long_session_takes_no_more_queries(world: World) -> None:
    counts = []
    session = await world.session()
    for turns in (2, 20):
        for number in range(turns):
            await world.turn(session, {"kept.txt": f"{turns}.{number}\n"})
        counts.append(await in_db(_queries, session))
    assert counts[0] == counts[1]


def _queries(session: Session) -> int:
    with CaptureQueriesContext(connection) as queries:
        timeline(session)
    return len(queries)


async def test_a_filter_and_a_bound(world: World) -> None:
    session = await world.session()
    for number in range(5):
        await world.turn(session, {"kept.txt": f"{number}\n"})
    shown = await in_db(timeline, session, kinds=["edit"], show=2)
    assert [moment.kind for moment in shown.moments] == ["edit", "edit"]
    assert (shown.earlier, shown.counts["turn"], len(shown.stops), len(shown.turns)) == (3, 5, 6, 5)
    assert shown.moments[-1].change == shown.stops[-1]


def test_marks_of_the_slider_never_share_a_place() -> None:
    turns = [Moment(f"m{number}", "turn", number, "Prompt", change=number // 76) for number in range(151)]
    found = marks(Timeline(turns, 0, range(3), turns, dict.fromkeys(KINDS, 0)))
    assert [(mark.stop, mark.number) for mark in found] == [(0, 1), (1, 77)]
    turns = [Moment(f"m{number}", "turn", number, "Prompt", change=number) for number in range(151)]
    found = marks(Timeline(turns, 0, range(152), turns, dict.fromkeys(KINDS, 0)))
    assert len(found) <= 10
