"""Where two people are wanted, whoever led a turn to something does not allow it."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from sessions.core.ids import ascending
from sessions.core.models import Admission, Session
from sessions.core.store import inbox, messages, permissions
from sessions.core.store import sessions as session_store
from sessions.core.store.permissions.replies import OfTheSame
from sessions.core.store.prompters import prompters
from sessions.core.wire.messages import AssistantMessage
from sessions.core.wire.parts import PART
from tests.sessions.core.store.permissions.asking import ask

TEXT = [{"type": "text", "text": "Do it."}]


@pytest.fixture(autouse=True)
def two_people(settings: Settings) -> None:
    settings.PEOPLE = settings.TWO_PEOPLE = True


def prompt(session: Session, actor: str, *, promotes: bool = True) -> str:
    """A prompt of somebody; the id of its message."""
    row = inbox.admit(session, TEXT, actor=actor)
    if not promotes:
        return row.id
    message = inbox.promote(row.id, agent="build", provider_id="loopback", model_id="m")
    assert message
    return message.id


def answer(session: Session, prompt_id: str, finish: str | None = None) -> str:
    """A step of the agent's; the id of its message."""
    id = ascending("msg")
    data = {
        "id": id,
        "sessionID": session.id,
        "time": {"created": 1},
        "parentID": prompt_id,
        "modelID": "m",
        "providerID": "loopback",
        "mode": "build",
        "agent": "build",
        "path": {"cwd": "/", "root": "/"},
        "finish": finish,
    }
    messages.put_message(AssistantMessage.model_validate(data))
    return id


def test_the_prompter_of_the_turn_may_refuse_and_not_allow(session: Session) -> None:
    message_id = answer(session, prompt(session, "Ada"))
    row = ask(session, message_id=message_id)
    with pytest.raises(OfTheSame):
        permissions.reply(row.id, "once", actor="Ada")
    assert permissions.reply(row.id, "once", actor="Grace") is not None
    assert permissions.reply(ask(session, message_id=message_id).id, "reject", actor="Ada") is not None


def test_who_prompted_a_turn_before_may_allow(session: Session) -> None:
    answer(session, prompt(session, "Ada"), "stop")
    message_id = answer(session, prompt(session, "Grace"))
    assert prompters(session, message_id) == {"Grace"}
    assert permissions.reply(ask(session, message_id=message_id).id, "once", actor="Ada") is not None


def test_who_steers_a_turn_leads_it_too(session: Session) -> None:
    answer(session, prompt(session, "Ada"), "tool-calls")
    message_id = answer(session, prompt(session, "Grace"))
    assert prompters(session, message_id) == {"Ada", "Grace"}


def test_a_prompt_after_the_question_changes_nothing(session: Session) -> None:
    message_id = answer(session, prompt(session, "Ada"))
    row = ask(session, message_id=message_id)
    prompt(session, "Grace")
    with pytest.raises(OfTheSame):
        permissions.reply(row.id, "once", actor="Ada")
    assert permissions.reply(row.id, "once", actor="Grace") is not None


def test_a_turn_goes_on_as_its_prompters(session: Session) -> None:
    """After a compaction the turn prompts itself; after a stop of the server it answers the same prompt."""
    first = prompt(session, "Ada")
    answer(session, first)
    assert prompters(session, answer(session, first)) == {"Ada"}
    answer(session, first, "stop")
    assert prompters(session, answer(session, prompt(session, ""))) == {"Ada"}


def test_a_prompt_that_took_another_id_has_its_sender(session: Session) -> None:
    waits = prompt(session, "Ada", promotes=False)
    answer(session, prompt(session, "Grace"), "stop")
    message = inbox.promote(waits, agent="build", provider_id="loopback", model_id="m")
    assert message
    assert message.id != waits
    assert prompters(session, answer(session, message.id)) == {"Ada"}


def test_a_subagent_works_for_who_prompted(session: Session) -> None:
    caller = answer(session, prompt(session, "Ada"), "tool-calls")
    child = session_store.create(session.project, session.directory, parent=session.id)
    call = {
        "id": ascending("prt"),
        "sessionID": session.id,
        "messageID": caller,
        "type": "tool",
        "callID": "c",
        "tool": "task",
        "state": {
            "status": "running",
            "input": {},
            "metadata": {"sessionId": child.id},
            "time": {"start": 1},
        },
    }
    messages.put_part(PART.validate_python(call))
    asking = answer(child, prompt(child, ""))
    answer(session, prompt(session, "Grace"), "stop")
    row = ask(child, message_id=asking)
    with pytest.raises(OfTheSame):
        permissions.reply(row.id, "once", actor="Ada")
    assert permissions.reply(row.id, "once", actor="Grace") is not None


def test_who_edits_a_prompt_that_waits_is_its_sender(session: Session) -> None:
    waits = prompt(session, "Ada", promotes=False)
    inbox.edit(session.id, waits, TEXT, "Grace")
    assert Admission.objects.get(id=waits).actor == "Grace"


def test_what_was_denied_is_let_through_by_another(session: Session) -> None:
    row = ask(session, message_id=answer(session, prompt(session, "Ada")))
    permissions.reply(row.id, "reject", actor="Grace")
    denied = permissions.decisions(session.project_id)[0]
    with pytest.raises(OfTheSame):
        permissions.let_through(session.project_id, denied.id, "Ada")
    assert permissions.let_through(session.project_id, denied.id, "Grace") is not None
