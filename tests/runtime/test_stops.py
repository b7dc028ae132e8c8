"""A stop is kept in a row; a prompt that the model was not asked about is taken back by it and given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent import recovery
from sessions.core.db import in_db
from sessions.core.models import Admission, AdmittedPrompt, Message, Session
from sessions.core.store import events, inbox, leases, resumption
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import PromptRefused
from sessions.core.wire.messages import STOPPED_BY_USER, UserMessage
from sessions.core.wire.session import Status
from tests.loopback.script import Turn, Wait
from tests.server import parts_of, serving, until
from tests.sessions.talk import Talk

database = pytest.mark.django_db(transaction=True)
TEXT = [{"type": "text", "text": "Do it."}]


async def promoted(id: str) -> UserMessage | None:
    return await in_db(inbox.promote, id, agent="build", provider_id="p", model_id="m")


def offered(session: Session) -> list[str]:
    return [row.stopped[0]["text"] for row in inbox.stopped(session.id) if row.stopped]


async def held(talk: Talk) -> Any:
    lease = await in_db(leases.claim, talk.session.id, "worker", 60)
    assert lease is not None
    return lease


@database
async def test_a_prompt_that_nobody_took_up_yet_is_taken_back(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await in_db(inbox.admit, talk.session, TEXT)
    await in_db(inbox.admit, talk.session, [{"type": "text", "text": "Then that."}])
    await in_db(inbox.stop, talk.session.id)
    assert await in_db(offered, talk.session) == ["Do it."]
    (left,) = await in_db(inbox.waiting, talk.session.id)
    assert left.parts[0]["text"] == "Then that."


@database
async def test_one_that_is_to_wait_stays(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await in_db(inbox.admit, talk.session, TEXT, resume=False)
    await in_db(inbox.stop, talk.session.id)
    assert await in_db(AdmittedPrompt.objects.count) == 1


@database
async def test_a_stop_that_no_worker_heard_of_is_done_when_the_drain_ends(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    await in_db(inbox.admit, talk.session, TEXT)
    await in_db(inbox.stop, talk.session.id)
    await in_db(recovery.close, lease, recovery.Close(None))
    assert await in_db(offered, talk.session) == ["Do it."]
    assert not await in_db(inbox.waiting, talk.session.id)


@database
async def test_a_stop_is_for_the_turn_that_runs_and_no_later_one(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    await in_db(inbox.stop, talk.session.id)
    await in_db(leases.release, lease)
    await held(talk)
    row = await in_db(Session.objects.get, id=talk.session.id)
    assert not leases.is_stopped(row)


@database
async def test_a_promoted_prompt_leaves_the_history_again(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    before = await talk.prompt("An old one.")
    admitted = await in_db(inbox.admit, talk.session, TEXT)
    lease = await held(talk)
    message = await promoted(admitted.id)
    assert message is not None
    await in_db(inbox.stop, talk.session.id)
    await in_db(recovery.close, lease, recovery.Close(recovery.STOPPED))
    assert await in_db(lambda: [row.id for row in Message.objects.all()]) == [before]
    assert await in_db(offered, talk.session) == ["Do it."]
    assert await in_db(inbox.let_go, talk.session.id, admitted.id)
    assert await in_db(offered, talk.session) == []


@database
async def test_a_worker_that_ends_leaves_the_prompt_to_the_next(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    prompt = await promoted((await in_db(inbox.admit, talk.session, TEXT)).id)
    assert prompt is not None
    await in_db(recovery.close, lease, recovery.Close(recovery.CRASHED))
    assert await in_db(Message.objects.filter(id=prompt.id).exists)
    assert await in_db(resumption.sessions_due) == [talk.session.id]


@database
@pytest.mark.parametrize("stopped", [True, False])
async def test_who_ended_a_turn_is_told_apart_when_the_server_ends(tmp_path: Path, stopped: bool) -> None:
    """And it begins anew for nobody who stopped it."""
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    answer = await talk.answer(await talk.prompt())
    if stopped:
        await in_db(inbox.stop, talk.session.id)
    await in_db(recovery.close, lease, recovery.Close(recovery.CRASHED))
    row = await in_db(Message.objects.get, id=answer)
    assert (row.data["error"]["data"]["message"] == STOPPED_BY_USER) is stopped
    told = await in_db(events.settled_since, 0, talk.session.project_id)
    assert bool(told) is not stopped
    assert bool(await in_db(resumption.undecided)) is not stopped


@database
async def test_a_stop_takes_back_what_was_to_go_on_and_nothing_more(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    await talk.answer(await talk.prompt())
    await in_db(recovery.close, lease, recovery.Close(recovery.CRASHED))
    await in_db(resumption.ask, talk.session.id)
    await in_db(inbox.admit, talk.session, TEXT)
    lease = await held(talk)
    await in_db(inbox.stop, talk.session.id)
    await in_db(recovery.close, lease, recovery.Close(recovery.STOPPED))
    assert await in_db(resumption.sessions_due) == []
    assert len(await in_db(inbox.waiting, talk.session.id)) == 1


@database
async def test_the_same_id_is_the_same_prompt_for_ever(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    id = "msg_0123456789ab"
    await in_db(inbox.admit, talk.session, TEXT, message_id=id)
    again = await in_db(inbox.admit, talk.session, TEXT, message_id=id, delivery="steer")
    assert (again.id, await in_db(AdmittedPrompt.objects.count)) == (id, 1)
    await promoted(id)
    again = await in_db(inbox.admit, talk.session, TEXT, message_id=id)
    assert (again.id, again.parts) == (id, TEXT)
    assert await in_db(AdmittedPrompt.objects.count) == 0
    with pytest.raises(PromptRefused, match="another content"):
        await in_db(inbox.admit, talk.session, [{"type": "text", "text": "Do that."}], message_id=id)
    with pytest.raises(PromptRefused, match="another content"):
        await in_db(inbox.admit, talk.session, TEXT, message_id=id, agent="plan")
    other = await Talk.begin(tmp_path / "other")
    with pytest.raises(PromptRefused, match="another session"):
        await in_db(inbox.admit, other.session, TEXT, message_id=id)
    assert await in_db(Admission.objects.count) == 1


async def test_through_the_server(home: Path, project: Path) -> None:
    """Sent again it is answered as the first time; stopped at once it never runs."""
    asked: list[str] = []

    def answer(body: Any) -> Turn:
        asked.append(str(body["messages"][-1]["content"]))
        if "First" in asked[-1]:
            return Turn(text="one")
        return Turn(text=["last", Wait("never")] if "Last" in asked[-1] else ["two", Wait("loop")])

    async with serving(home, project, answer) as (client, model), client.events() as events:
        session = (await client.create_session(title="named"))["id"]
        id = "msg_0000000000001A"
        first = await client.prompt(session, "First.", messageID=id)
        second = await client.prompt(session, "First.", messageID=id)
        assert parts_of([second], "text")[0]["text"] == "one"
        assert first["info"]["id"] == second["info"]["id"]
        assert len(asked) == 1
        for number in range(20):
            await client.prompt_async(session, f"Prompt {number}.")
            await client.abort(session)
        await client.prompt_async(session, "Last.")
        model.gate(
            "loop"
        ).open()  # a stop ends what runs, so the last of these may run when none comes any more
        await until(events, "message.part.delta", delta="last")
        await client.abort(session)
        await until(events, "session.idle")
        while (await client.status()).get(session):
            await until(events, "session.idle")
        begun = {text["text"] for text in parts_of(await client.messages(session), "text")}
        ran = [said for said in asked if "Prompt" in said]
        assert all(said in str(begun) for said in ran)
        history = await client.messages(session)
        assert all(row["info"]["time"].get("completed") for row in history if row["info"]["role"] != "user")


@database
async def test_a_message_that_asks_for_no_answer_is_not_answered_after_a_crash(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await held(talk)
    admitted = await in_db(inbox.admit, talk.session, TEXT, no_reply=True)
    assert await promoted(admitted.id) is not None
    await in_db(recovery.close, lease, recovery.Close(recovery.CRASHED))
    assert await in_db(resumption.sessions_due) == []


@database
async def test_a_steer_that_was_not_asked_is_given_back_and_the_turn_ends_as_stopped(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    times = {"created": 1, "completed": 2}
    await talk.answer(await talk.prompt("Begin."), finish="tool-calls", time=times)
    lease = await held(talk)
    await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
    steer = await in_db(inbox.admit, talk.session, TEXT, delivery="steer")
    assert await promoted(steer.id) is not None
    await in_db(inbox.stop, talk.session.id)
    await in_db(recovery.close, lease, recovery.Close(recovery.STOPPED))
    assert await in_db(offered, talk.session) == ["Do it."]
    last = await in_db(lambda: Message.objects.order_by("-id")[0])
    assert last.role == "assistant"
    assert last.data["error"]["name"] == "MessageAbortedError"
    row = await in_db(Session.objects.get, id=talk.session.id)
    assert await in_db(resumption.of, row) is not None


@database
async def test_a_stop_that_comes_during_an_undo_takes_back_what_waits(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    lease = await in_db(leases.claim, talk.session.id, "a-worker:undo-1", 60)
    assert lease is not None
    await in_db(inbox.admit, talk.session, TEXT)
    assert await in_db(inbox.stop, talk.session.id) is None
    assert await in_db(offered, talk.session) == ["Do it."]
    assert not await in_db(inbox.waiting, talk.session.id)


@database
async def test_a_stop_of_what_a_dead_worker_left_is_seen_by_who_seizes_it(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await held(talk)
    seen = await in_db(Session.objects.get, id=talk.session.id)
    await in_db(inbox.stop, talk.session.id)
    lease = await in_db(leases.seize, seen, "another", 60, dead=True)
    assert lease is not None
    assert lease.left_stopped
