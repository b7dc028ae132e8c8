"""Which turns can be gone on with, and how often one does so by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent import recovery
from agents.agent.recovery import Ending
from agents.toolkit.permission.errors import PermissionRejected
from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import Part, Session
from sessions.core.store import inbox, resumption, shells
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def cut_off(talk: Talk, ending: Ending = recovery.CRASHED, **answer: Any) -> str:
    """A prompt whose answer was under way when its turn ended so."""
    prompt = await talk.prompt()
    await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
    await talk.answer(prompt, **answer)
    await in_db(recovery.settle, talk.session.id, ending)
    return prompt


async def offered(talk: Talk) -> str:
    session = await in_db(Session.objects.get, id=talk.session.id)
    found = await in_db(resumption.of, session)
    return found.prompt_id if found else ""


@pytest.mark.parametrize("ending", [recovery.CRASHED, recovery.STOPPED, recovery.FAILED])
async def test_a_turn_that_did_not_end_in_order_is_offered_until_the_next(
    tmp_path: Path, ending: Ending
) -> None:
    talk = await Talk.begin(tmp_path / "p")
    prompt = await cut_off(talk, ending)
    assert await offered(talk) == prompt
    assert bool(await in_db(resumption.undecided)) == (ending is recovery.CRASHED)
    await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
    assert not await offered(talk)
    await in_db(session_store.set_status, talk.session.id, Status(type="idle"))
    await in_db(session_store.update, talk.session.id, revert={"messageID": prompt})
    assert not await offered(talk)
    await in_db(session_store.update, talk.session.id, revert=None)
    await talk.prompt("Something else.")
    assert not await offered(talk)
    with pytest.raises(resumption.NothingToResume):
        await in_db(resumption.ask, talk.session.id)


async def test_it_is_cut_off_between_two_steps(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    done: dict[str, Any] = {"time": {"created": 1, "completed": 2}}
    assert await cut_off(talk, recovery.CRASHED, **done, finish="tool-calls") == await offered(talk)
    other = await Talk.begin(tmp_path / "q")
    await cut_off(other, recovery.CRASHED, **done, finish="stop")
    assert not await offered(other), "it had come to its end"


async def test_who_rejected_a_call_is_asked_first(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    answer = await talk.answer(await talk.prompt())
    state = {
        "status": "error",
        "input": {},
        "error": str(PermissionRejected()),
        "time": {"start": 1, "end": 2},
    }
    await talk.part(answer, "tool", callID="call", tool="bash", state=state)
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert await offered(talk)
    assert not await in_db(resumption.undecided)


async def test_a_call_that_had_not_begun_is_known_not_to_have_run(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    answer = await talk.answer(await talk.prompt())
    part = await talk.part(
        answer, "tool", callID="call", tool="bash", state={"status": "pending", "input": {}, "raw": ""}
    )
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    row = await in_db(lambda: Part.objects.get(id=part.id))
    assert "was not run" in row.data["state"]["error"]


async def test_what_is_not_gone_on_with(tmp_path: Path) -> None:
    """A command of the user's own shell would run again; a subagent is sent on by the call that sent it."""
    talk = await Talk.begin(tmp_path / "p")
    prompt = await talk.prompt()
    await talk.part(prompt, "text", text="", synthetic=True, metadata={shells._MARK: "make"})
    await talk.answer(prompt)
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert not await offered(talk)
    child = await in_db(session_store.create, talk.project, str(tmp_path), parent=talk.session.id)
    below = Talk(talk.project, child)
    await cut_off(below)
    assert not await offered(below)
    assert not await in_db(resumption.undecided)


async def test_a_crash_after_a_stop_does_not_take_the_stop_back(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    prompt = await cut_off(talk, recovery.STOPPED)
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert not await in_db(resumption.undecided)
    assert await offered(talk) == prompt


async def test_by_itself_it_goes_on_twice(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    prompt = await cut_off(talk)
    for _ in range(resumption.MOST_TRIES):
        await in_db(resumption.decide, talk.session.id, automatic=True)
        assert await in_db(resumption.sessions_due) == [talk.session.id]
        begun = await in_db(resumption.begin, talk.session.id)
        assert begun is not None
        assert begun[0].id == prompt
        assert await in_db(resumption.begin, talk.session.id) is None
        await talk.answer(prompt)
        await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    await in_db(resumption.decide, talk.session.id, automatic=True)
    assert await in_db(resumption.sessions_due) == []
    assert await offered(talk) == prompt
    await in_db(resumption.ask, talk.session.id)
    assert await in_db(resumption.sessions_due) == [talk.session.id]


async def test_what_is_begun_and_has_no_answer_yet_is_cut_off_anew(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    prompt = await cut_off(talk)
    for _ in range(resumption.MOST_TRIES):
        await in_db(resumption.decide, talk.session.id, automatic=True)
        assert await in_db(resumption.begin, talk.session.id) is not None
        assert await in_db(resumption.state, talk.session.id) == ""
        await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
        assert await in_db(resumption.undecided) == [talk.session]
    await in_db(resumption.decide, talk.session.id, automatic=True)
    assert await in_db(resumption.sessions_due) == []
    assert await offered(talk) == prompt


async def test_a_stop_of_what_is_begun_is_not_taken_back(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    await cut_off(talk)
    await in_db(resumption.decide, talk.session.id, automatic=True)
    assert await in_db(resumption.begin, talk.session.id) is not None
    assert not await in_db(resumption.withdraw, talk.session.id)
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert await in_db(resumption.undecided) == []


async def test_a_prompt_that_ends_the_server_is_begun_anew_twice(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    row = await in_db(inbox.admit, talk.session, [{"type": "text", "text": "Do it."}])
    prompt = await in_db(inbox.promote, row.id, agent="build", provider_id="p", model_id="m")
    assert prompt is not None
    for _ in range(resumption.MOST_TRIES):
        await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
        begun = await in_db(resumption.begin, talk.session.id)
        assert begun is not None
        assert begun[0].id == prompt.id
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert await in_db(resumption.state, talk.session.id) == ""
    assert await offered(talk) == prompt.id
    await in_db(resumption.ask, talk.session.id)
    assert await in_db(resumption.begin, talk.session.id) is not None


async def test_a_stop_takes_back_what_is_due(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    prompt = await cut_off(talk)
    await in_db(resumption.ask, talk.session.id)
    await actions.abort(talk.session.id)
    assert await in_db(resumption.begin, talk.session.id) is None
    assert await offered(talk) == prompt


async def test_a_prompt_that_the_servers_end_left_without_an_answer_is_due(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    text = [{"type": "text", "text": "Do it."}]
    admitted = await in_db(inbox.admit, talk.session, text)
    prompt = await in_db(inbox.promote, admitted.id, agent="build", provider_id="p", model_id="m")
    assert prompt is not None
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    begun = await in_db(resumption.begin, talk.session.id)
    assert begun is not None
    assert (begun[0].id, begun[1]) == (prompt.id, 0)
