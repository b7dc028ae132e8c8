"""Prepared statements do what those of the ORM do."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, Message, Part, Session
from sessions.core.prepared import Insert, Prepared, Update, Upsert, delete
from sessions.core.store import context, inbox
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_query_is_put_together_once_and_asks_the_database_each_time(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    built: list[str] = []

    def build(session_id: str, delivery: str) -> object:
        built.append(session_id)
        return AdmittedPrompt.objects.filter(session_id=session_id, no_reply=False).exclude(delivery=delivery)

    def look() -> None:
        waiting: Prepared[AdmittedPrompt] = Prepared(build)  # type: ignore[arg-type]
        assert waiting.rows(talk.session.id, "steer") == []
        for delivery in ("queue", "steer", "queue"):
            inbox.admit(talk.session, [{"type": "text", "text": 'it\'s 100% "so"'}], delivery=delivery)
        with CaptureQueriesContext(connection) as asked:
            found = waiting.rows(talk.session.id, "steer")
        assert len(asked) == 1
        wanted = AdmittedPrompt.objects.filter(session=talk.session, delivery="queue")
        assert found == list(wanted)
        assert [row.parts for row in found] == [row.parts for row in wanted]
        assert len(waiting.rows(talk.session.id, "queue")) == 1
        assert waiting.rows("parameter 0", "steer") == []
        assert len(built) == 1

    await in_db(look)


async def test_all_columns_are_those_of_the_row(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")

    def look() -> None:
        prepared = Prepared(lambda session_id: Session.objects.filter(id=session_id, time_deleted=None)[:1])
        row, same = prepared.first(talk.session.id), Session.objects.get(id=talk.session.id)
        assert row is not None
        names = [field.attname for field in Session._meta.concrete_fields]
        assert [getattr(row, name) for name in names] == [getattr(same, name) for name in names]
        row.title = "Changed"
        row.save(update_fields=["title"])
        again = prepared.first(talk.session.id)
        assert again is not None
        assert again.title == "Changed"
        assert prepared.first("ses_none") is None

    await in_db(look)


async def test_what_is_joined_hangs_on_the_row(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")

    def look() -> None:
        prepared: Prepared[Session] = Prepared(
            lambda session_id: Session.objects.filter(id=session_id).select_related("project", "epoch")
        )
        row = prepared.first(talk.session.id)
        assert row is not None
        with CaptureQueriesContext(connection) as asked:
            assert (row.project, row.project.worktree) == (talk.project, talk.project.worktree)
            assert not hasattr(row, "epoch")
        assert len(asked) == 0
        begun = context.begin(talk.session.id, "here", "A baseline.", {"date": "today"})
        row = prepared.first(talk.session.id)
        assert row is not None
        with CaptureQueriesContext(connection) as asked:
            assert (row.epoch, row.epoch.snapshot, row.epoch.session) == (begun, {"date": "today"}, row)
        assert len(asked) == 0

    await in_db(look)


async def test_what_is_not_in_the_query_as_it_is_is_refused() -> None:
    prepared = Prepared(lambda text: Session.objects.filter(title__icontains=text))
    with pytest.raises(AssertionError, match="as it is"):
        await in_db(prepared.rows, "x")


async def test_rows_are_inserted_or_replaced_but_for_what_is_kept(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    upsert, data = (
        Upsert(Message, kept=["prompt_id"]),
        {"text": "100% 'so' \u00e9", "none": None, "n": [1, {}]},
    )

    def row(number: int, **given: object) -> Message:
        values = {"role": "user", "prompt_id": "", "time_created": 1, "data": data, **given}
        return Message(id=f"msg_{number:04}", session_id=talk.session.id, **values)

    def look() -> None:
        with transaction.atomic():
            upsert.put([row(1, prompt_id="msg_first"), row(2)])
            upsert.put([row(2, role="assistant", data={}), row(1, prompt_id="msg_other", time_created=2)])
        first, second = Message.objects.order_by("id")
        assert (first.prompt_id, first.time_created, first.data) == ("msg_first", 2, data)
        assert (second.role, second.data) == ("assistant", {})
        upsert.put([])
        most = connection.features.max_query_params or 1000
        upsert.put([row(number) for number in range(most // 6 + 2)])
        assert Message.objects.filter(data=data).count() == most // 6 + 2

    await in_db(look)


async def test_what_the_database_finds_is_asked_for_when_it_is_wanted(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    words = "(SELECT time_created + %s FROM opencode_sessions_session WHERE id = %s)"
    insert = Insert(Message, found={"time_created": words})
    rows = [
        Message(id=f"msg_{number}", session_id=talk.session.id, role="user", data={"100%": number})
        for number in range(2)
    ]

    def look() -> None:
        with transaction.atomic():
            insert.put(rows, time_created=[7, talk.session.id])
        made = talk.session.time_created + 7
        assert [(row.time_created, row.data) for row in rows] == [(made, {"100%": 0}), (made, {"100%": 1})]
        rows[0].role = "assistant"
        rows[0].save()
        with pytest.raises(IntegrityError), transaction.atomic():
            insert.put([Message(id="msg_1", session_id=talk.session.id)], time_created=[7, talk.session.id])
        assert list(Message.objects.order_by("id").values_list("role", flat=True)) == ["assistant", "user"]

    await in_db(look)


async def test_columns_of_a_row_are_written_and_no_others_and_a_row_is_deleted(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    update = Update(Message, found={"time_created": "time_created + %s"})

    def look() -> None:
        made = [
            Message(id=f"msg_{number}", session_id=talk.session.id, role="user", time_created=1, data={})
            for number in range(2)
        ]
        Insert(Message).put(made)
        row = Message.objects.get(id="msg_1")
        row.role, row.data = "assistant", {"100%": "'so'"}
        update.put(row, "data", time_created=[4])
        assert row.time_created == 5
        other, same = Message.objects.order_by("id")
        assert (other.time_created, other.data) == (1, {})
        assert (same.role, same.time_created, same.data) == ("user", 5, row.data)
        update.put(row, "role", "data", time_created=[0])
        assert Message.objects.get(id="msg_1").role == "assistant"
        delete(row)
        assert [left.id for left in Message.objects.all()] == ["msg_0"]
        with pytest.raises(DatabaseError, match="msg_1 is gone"):
            update.put(row, "role", time_created=[0])

    await in_db(look)


async def test_a_row_that_hangs_on_none_is_refused(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    part = Part(id="prt_1", message_id="msg_none", session_id=talk.session.id, type="text", data={})
    with pytest.raises(IntegrityError):
        await in_db(Upsert(Part).put, [part])
