"""Rows and events are one transaction; events reach listeners only after commit; the log can be read back."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from django.db import connection, transaction

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import ascending, descending, now
from sessions.core.models import AdmittedPrompt, Event, Message, Part, Session
from sessions.core.store import events, inbox, leases, messages, permissions, projects
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import PromptRefused
from sessions.core.store.rows import part_wire
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.parts import TextPart

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = [{"type": "text", "text": "Hello"}]


def new_session(directory: Path) -> Session:
    return session_store.create(projects.open_project(directory), str(directory))


def test_ids_sort_by_time() -> None:
    rising = [ascending("msg") for _ in range(500)]
    falling = [descending("ses") for _ in range(500)]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert len({len(one) for one in rising + falling}) == 1


async def test_nothing_is_published_before_commit(tmp_path: Path) -> None:
    async with bus.subscribe() as mailbox:

        def broken() -> None:
            with transaction.atomic():
                new_session(tmp_path)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await in_db(broken)
        session = await in_db(new_session, tmp_path)
        (event,) = await mailbox.take()
        assert event.properties["sessionID"] == session.id
        assert await in_db(Event.objects.count) == 1


async def test_a_slow_listener_is_cut_off_not_buffered(tmp_path: Path) -> None:
    async with bus.subscribe(limit=2) as mailbox:
        for _ in range(3):
            bus.publish(bus.Event("x", {}))
        assert mailbox.overflowed
        assert len(await mailbox.take()) == 2


def test_the_log_is_read_after_a_cursor_until_it_is_pruned(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    cursor = events.latest()
    session_store.rename(session.id, "A name")
    found = events.after(cursor, session=session.id)
    assert found is not None
    assert [event.type for event in found] == ["session.updated"]
    for number in range(5):
        session_store.rename(session.id, str(number))
    events.prune(keep=2)
    assert events.after(cursor, session=session.id) is None


def test_old_events_go_and_the_last_one_stays(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    for number in range(3):
        session_store.rename(session.id, str(number))
    following = events.following(session.id)
    ids = list(Event.objects.order_by("id").values_list("id", flat=True))
    Event.objects.filter(id__in=ids[:2]).update(time_created=1000)
    assert events.prune(None, 1000) == 0, "what is as old as that stays"
    assert events.prune(None, 1001) == 2
    assert events.prune(None, now() + 1000) == len(ids) - 3
    assert list(Event.objects.values_list("id", flat=True)) == ids[-1:]
    assert events.prune(None) == 0
    assert events.following(session.id) == following


def promote(prompt_id: str) -> UserMessage | None:
    return inbox.promote(prompt_id, agent="build", provider_id="p", model_id="m")


def test_a_prompt_is_admitted_once_and_promoted_whole(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    known = inbox.admit(session, HELLO)
    assert inbox.admit(session, HELLO, message_id=known.id).pk == known.pk
    message = promote(known.id)
    assert message is not None
    assert AdmittedPrompt.objects.count() == 0
    ((row),) = messages.history(session.id)
    assert [part["text"] for part in row["parts"]] == ["Hello"]
    assert promote(known.id) is None


@pytest.mark.parametrize("parts", [[], [{"type": "text", "text": "  \n"}]])
def test_an_empty_prompt_is_refused(tmp_path: Path, parts: list[dict[str, str]]) -> None:
    with pytest.raises(PromptRefused):
        inbox.admit(new_session(tmp_path), parts)


def test_a_prompt_that_waited_sorts_after_what_came_meanwhile(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    waiting = inbox.admit(session, HELLO)
    second = inbox.admit(session, HELLO)
    first = promote(waiting.id)
    later = ascending("msg")
    Message.objects.create(id=later, session=session, role="assistant", time_created=now(), data={})
    promoted = promote(second.id)
    assert first is not None
    assert promoted is not None
    assert promoted.id > later > second.id


def test_pages_of_history(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    for _ in range(5):
        promote(inbox.admit(session, HELLO).id)
    whole = messages.history(session.id)
    last = messages.history(session.id, limit=2)
    assert last == whole[-2:]
    assert messages.history(session.id, limit=2, before=last[0]["info"]["id"]) == whole[1:3]


def test_a_part_keeps_unknown_keys(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    message = promote(inbox.admit(session, HELLO).id)
    assert message is not None
    part = TextPart.model_validate(
        {"id": ascending("prt"), "sessionID": session.id, "messageID": message.id, "text": "a", "new": 1}
    )
    messages.put_part(part)
    found = messages.part(session.id, part.id)
    assert found is not None
    assert found["new"] == 1


def test_one_lease_at_a_time(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    assert leases.claim(session.id, "one", 60)
    assert not leases.claim(session.id, "two", 60)
    (held,) = leases.leased()
    assert not leases.seize(held, "two", 60, dead=False)
    assert leases.seize(held, "two", 60, dead=True)
    assert not leases.seize(held, "three", 60, dead=True)


def test_deleting_hides_children_and_can_be_undone(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    child = session_store.create(session.project, session.directory, parent=session.id)
    session_store.delete(session.id)
    assert session_store.get(session.id) is None
    assert session_store.get(child.id) is None
    session_store.restore(session.id)
    assert session_store.get(child.id) is not None


def test_an_answer_is_taken_once_and_never_after_the_turn(tmp_path: Path) -> None:
    session = new_session(tmp_path)

    def ask() -> str:
        request = permissions.ask(
            session,
            message_id="",
            call_id="c",
            agent="build",
            permission="bash",
            patterns=["git status"],
            always=["git *"],
            metadata={},
            arguments_hash="",
        )
        return request.id

    first = ask()
    assert permissions.reply(first, "always") is not None
    assert permissions.reply(first, "reject") is None
    assert [rule.pattern for rule in permissions.rules(session.project_id)] == ["git *"]
    second = ask()
    permissions.cancel(session.id)
    assert permissions.reply(second, "once") is None
    with pytest.raises(ValueError, match="once"):
        permissions.reply(second, "perhaps")


def test_a_text_from_elsewhere_has_its_text() -> None:
    row = Part(id="prt_1", message_id="msg_1", session_id="ses_1", type="reasoning", data={})
    assert part_wire(row)["text"] == ""
    row.data["text"] = "said"
    assert part_wire(row)["text"] == "said"


@pytest.mark.sqlite
async def test_more_events_than_a_statement_takes_are_logged_together(tmp_path: Path) -> None:
    many = 300

    def log() -> list[tuple[int, int | None]]:
        session = new_session(tmp_path)
        connection.ensure_connection()
        connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        try:
            with events.together():
                for _ in range(many):
                    events.record("message.removed", {}, project=session.project_id, session=session.id)
        finally:
            connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 250_000)
        rows = Event.objects.filter(session_id=session.id, type="message.removed").order_by("id")
        return list(rows.values_list("id", "number"))

    async with bus.subscribe(wants=lambda event: event.type == "message.removed") as mailbox:
        logged = await in_db(log)
        told = await mailbox.take(10)
    assert [number for _, number in logged] == list(range(1, many + 1))
    assert [(event.seq, event.number) for event in told] == logged
