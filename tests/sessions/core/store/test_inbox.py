"""Prompts that wait: their order, every change until promotion, and what comes too late."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sessions.core.data_url import by_address
from sessions.core.models import AdmittedPrompt, Session
from sessions.core.store import context, events, inbox, messages, order, projects
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import PromptRefused

pytestmark = pytest.mark.django_db(transaction=True)

PIXEL = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def admit(session: Session, words: str, delivery: inbox.Delivery = "queue") -> str:
    return inbox.admit(session, [text(words)], delivery=delivery).id


def said(rows: list[AdmittedPrompt]) -> list[str]:
    return [row.parts[0]["text"] for row in rows]


def promote(prompt_id: str) -> Any:
    return inbox.promote(prompt_id, agent="build", provider_id="p", model_id="m")


def test_prompts_of_one_millisecond_keep_their_order_and_can_be_moved(session: Session) -> None:
    with patch("sessions.core.store.inbox.now", return_value=1_000):
        ids = [admit(session, words) for words in ("one", "two", "three")]
    positions = list(AdmittedPrompt.objects.values_list("position", flat=True))
    assert len(set(positions)) == 3
    assert said(inbox.waiting(session.id)) == ["one", "two", "three"]
    assert inbox.move(session.id, ids[2], -1)
    assert said(inbox.waiting(session.id)) == ["one", "three", "two"]
    assert inbox.move(session.id, ids[0], 1)
    assert said(inbox.waiting(session.id)) == ["three", "one", "two"]
    assert sorted(AdmittedPrompt.objects.values_list("position", flat=True)) == sorted(positions)
    admit(session, "four")
    assert said(inbox.waiting(session.id))[-1] == "four"


@pytest.mark.parametrize(
    ("url", "source", "named"),
    [
        ("data:image/png;base64,AAAA", None, False),
        ("data:image/png;base64,AAAA", "odd", False),
        ("data:image/png;base64,AAAA", {"type": "resource", "uri": "data://config"}, False),
        ("data://config", {"type": "resource", "uri": "data://config"}, True),
        ("data://config", {"type": "file", "uri": "data://config"}, False),
        ("file:///a.py", None, True),
    ],
)
def test_what_a_file_part_holds_and_what_it_names(url: str, source: Any, named: bool) -> None:
    assert by_address({"url": url, "source": source}) == named


def test_a_session_whose_prompt_was_taken_is_not_idle(session: Session) -> None:
    """Though nothing has begun: a client that asks at once would take it for done."""
    waits = session_store.create(session.project, session.directory)
    inbox.admit(waits, [text("later")], resume=False)
    assert session_store.at_work(session.project_id) == {}
    taken = admit(session, "now")
    busy = {session.id: {"type": "busy"}}
    assert session_store.at_work(session.project_id) == session_store.at_work() == busy
    assert session_store.at_work("another") == {}
    promote(taken)
    assert session_store.at_work(session.project_id) == {}


def test_what_follows_an_older_conversation_sorts_after_it(session: Session) -> None:
    """The time in ids began again in August 2026: an imported message may have a greater id."""
    imported = f"msg_{'f' * 11}0{'a' * 14}"
    old = promote(admit(session, "old"))
    messages.put_message(old.model_copy(update={"id": imported}))
    ids = [old.id, imported, promote(admit(session, "new")).id, context.advance(session.id, "told", {}).id]
    messages.put_message(old.model_copy(update={"id": order.next_id(session.id)}))
    ids += [order.last_id(session.id), order.next_id(session.id)]
    assert ids == sorted(set(ids))


def test_a_move_beyond_the_end_changes_nothing(session: Session) -> None:
    first, last = admit(session, "first"), admit(session, "last")
    cursor = events.latest()
    assert inbox.move(session.id, first, -1)
    assert inbox.move(session.id, last, 1)
    assert said(inbox.waiting(session.id)) == ["first", "last"]
    assert events.latest() == cursor


def test_what_steers_comes_before_what_is_queued(session: Session) -> None:
    queued, steers = admit(session, "queued"), admit(session, "steers", "steer")
    assert said(inbox.waiting(session.id)) == ["steers", "queued"]
    assert said(inbox.steering(inbox.waiting(session.id))) == ["steers"]
    assert said(inbox.next_when_idle(session.id)) == ["steers"]
    assert inbox.move(session.id, queued, -1)  # not past what steers
    assert said(inbox.waiting(session.id)) == ["steers", "queued"]
    assert inbox.switch(session.id, steers, "queue")
    assert inbox.switch(session.id, queued, "steer")
    assert said(inbox.steering(inbox.waiting(session.id))) == ["queued"]
    assert inbox.switch(session.id, queued, "queue")
    assert said(inbox.next_when_idle(session.id)) == ["queued"]


def test_an_edit_keeps_what_is_attached_and_what_a_tool_gave(session: Session) -> None:
    synthetic = text("mind the file", synthetic=True)
    mention = {"type": "agent", "name": "general"}
    row = inbox.admit(session, [text("old @general"), mention, PIXEL, synthetic])
    assert inbox.edit(session.id, row.id, [text("new")])
    message = promote(row.id)
    (entry,) = messages.history(session.id)
    assert entry["info"]["id"] == message.id
    assert [part.get("text", part["type"]) for part in entry["parts"]] == ["new", "file", "mind the file"]


def test_an_edit_that_leaves_nothing_is_refused(session: Session) -> None:
    prompt = admit(session, "old")
    for nothing in ([], [text("  \n")]):
        with pytest.raises(PromptRefused, match="empty"):
            inbox.edit(session.id, prompt, nothing)
    assert said(inbox.waiting(session.id)) == ["old"]
    attached = inbox.admit(session, [text("look"), PIXEL])
    assert inbox.edit(session.id, attached.id, [])
    assert [part["type"] for part in inbox.waiting(session.id)[1].parts] == ["file"]


def test_a_session_that_was_deleted_takes_no_prompt(session: Session) -> None:
    session_store.delete(session.id)
    with pytest.raises(PromptRefused, match="deleted"):
        admit(session, "late")
    assert inbox.waiting(session.id) == []


def test_every_change_is_told_and_none_comes_after_promotion(session: Session) -> None:
    prompt, other = admit(session, "a"), admit(session, "b")
    cursor = events.latest()
    assert inbox.edit(session.id, prompt, [text("a!")])
    assert inbox.move(session.id, prompt, 1)
    assert inbox.switch(session.id, prompt, "steer")
    assert inbox.withdraw(session.id, other)
    told = events.after(cursor, session=session.id)
    assert told is not None
    assert [event.type for event in told] == ["session.inbox"] * 4
    promote(prompt)
    cursor = events.latest()
    assert not inbox.edit(session.id, prompt, [text("too late")])
    assert not inbox.move(session.id, prompt, -1)
    assert not inbox.switch(session.id, prompt, "queue")
    assert not inbox.withdraw(session.id, prompt)
    assert events.latest() == cursor
    (entry,) = messages.history(session.id)
    assert entry["parts"][0]["text"] == "a!"


def test_another_sessions_prompt_is_out_of_reach(session: Session) -> None:
    stranger = session_store.create(session.project, session.directory)
    prompt = admit(session, "mine")
    assert not inbox.edit(stranger.id, prompt, [text("theirs")])
    assert not inbox.withdraw(stranger.id, prompt)
    assert said(inbox.waiting(session.id)) == ["mine"]


@pytest.mark.parametrize("part", [{"type": "file", "mime": "text/plain"}, {"type": "agent"}, {"type": "odd"}])
def test_a_part_that_could_never_be_promoted_is_refused(session: Session, part: dict[str, str]) -> None:
    with pytest.raises(PromptRefused, match=r"required|expected tags"):
        inbox.admit(session, [text("with"), part])
    assert inbox.waiting(session.id) == []
