"""Notifiers as rows: what is told is written with what happened, waits for its time, is tried one by one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction

from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Delivery, Goal, Notifier, Session
from sessions.core.store import goals, notifiers, permissions, questions
from sessions.core.store import sessions as session_store
from sessions.core.store.notifiers import BACKOFF, Choice, Claimed, NotifierRefused, Target
from sessions.core.wire.questions import QuestionInfo, QuestionOption
from sessions.core.wire.session import Status
from tests.sessions.core.store.test_goals import begun, found, promoted, settled
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
BERLIN = "Europe/Berlin"
MINUTE = 60_000


def choice(**more: Any) -> Choice:
    shape: dict[str, Any] = {
        "name": "Phone",
        "format": "ntfy",
        "target": Target("https://push.example/topic", secret="s3cret"),
        "place": "push.example",
        "kinds": list(notifiers.KINDS),
        "base": "https://here.example",
    }
    return Choice(**{**shape, **more})


async def kept(**more: Any) -> Notifier:
    return await in_db(notifiers.save, choice(**more), "")


async def deliveries() -> list[Delivery]:
    return await in_db(lambda: list(Delivery.objects.order_by("id")))


async def told() -> list[str]:
    return [one["kind"] for row in await deliveries() for one in row.news]


async def turn(session: Session, error: dict[str, Any] | None = None) -> None:
    await in_db(session_store.set_status, session.id, Status(type="busy"))
    await in_db(session_store.set_status, session.id, Status(type="idle"), error=error)


def ask(session: Session) -> str:
    row = permissions.ask(
        session,
        message_id="msg_1",
        call_id="call_1",
        agent="build",
        permission="bash",
        patterns=["ls"],
        always=["ls"],
        metadata={},
        arguments_hash="h",
    )
    return row.id


async def claimed() -> Claimed:
    (found,) = await in_db(notifiers.claim, 10)
    return found


async def make_due() -> None:
    await in_db(lambda: Delivery.objects.update(time_due=1))


async def test_each_kind_is_told_once_and_subagents_and_stops_are_not(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept()
    await turn(talk.session)
    await turn(talk.session, {"name": "APIError", "data": {"message": "no"}})
    await turn(talk.session, {"name": "MessageAbortedError", "data": {"message": "stopped"}})
    child = await in_db(
        session_store.create, talk.project, talk.session.directory, title="below", parent=talk.session.id
    )
    await turn(child)
    await in_db(ask, child)
    question = QuestionInfo(
        question="Which?", header="W", options=[QuestionOption(label="A", description="")]
    )
    await in_db(questions.ask, talk.session, [question], message_id="", call_id="", tool="question")
    assert await told() == ["done", "failed", "asks", "asks"]
    news = [one for row in await deliveries() for one in row.news]
    assert {one["session"] for one in news} == {talk.session.id}, "a subagent's is told as of who started it"
    assert {one["title"] for one in news} == {"a talk"}


async def test_what_did_not_happen_is_not_told(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept()

    def undone() -> None:
        with transaction.atomic():
            ask(talk.session)
            transaction.set_rollback(True)

    await in_db(undone)
    assert await deliveries() == []


async def test_a_goal_that_ends_is_told_in_place_of_its_last_turn(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    await kept()
    await promoted(talk)
    assert await settled(goal, found("done")) == "done"
    await turn(talk.session)
    assert await told() == ["goal"]
    ((news,),) = [row.news for row in await deliveries()]
    assert (news["what"], news["request"]) == ("done", goal.id)
    await in_db(Goal.objects.all().delete)
    await turn(talk.session)
    assert await told() == ["goal", "done"]


async def test_a_pause_of_ones_own_is_no_news(tmp_path: Path) -> None:
    talk, _ = await begun(tmp_path)
    await kept()
    await in_db(goals.pause, talk.session.id)
    await in_db(goals.go_on, talk.session)
    await in_db(goals.end, talk.session.id)
    assert await told() == []


async def test_only_what_was_chosen_is_told(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept(kinds=["failed"])
    await kept(projects=["another"])
    off = await kept()
    await in_db(notifiers.switch, off, False)
    await turn(talk.session)
    assert await told() == []


async def test_news_that_wait_become_one_message(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    notifier = await kept(wait=5)
    await turn(talk.session)
    await turn(talk.session)
    assert await told() == ["done", "done"]
    assert len(await deliveries()) == 1
    assert await in_db(notifiers.claim, 10) == []
    await in_db(notifiers.save, choice(wait=0), "", notifier)
    first = await claimed()
    assert [one.kind for one in first.news] == ["done", "done"]
    await turn(talk.session)
    assert len(await deliveries()) == 2, "what is being sent stays as it is"


async def test_a_long_night_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifiers, "MOST_NEWS", 2)
    talk = await Talk.begin(tmp_path / "project")
    await kept(wait=5)
    for _ in range(5):
        await turn(talk.session)
    ((first, last),) = [row.news for row in await deliveries()]
    assert (first["more"], last["more"]) == (0, 3)


async def test_what_was_answered_or_looked_at_is_dropped(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept(wait=5)
    request = await in_db(ask, talk.session)
    await turn(talk.session)
    await in_db(permissions.reply, request, "once")
    await in_db(session_store.read, talk.session.id)
    await make_due()
    assert await in_db(notifiers.claim, 10) == []
    assert [row.state for row in await deliveries()] == ["dropped"]


async def test_one_try_at_a_time_and_none_after_it_was_taken(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    notifier = await kept()
    await turn(talk.session)
    first = await claimed()
    assert await in_db(notifiers.claim, 10) == [], "another server looks at the same moment"
    await make_due()  # the claim has lapsed: who had it is gone, or late
    second = await claimed()
    assert second.delivery.id == first.delivery.id
    await in_db(notifiers.failed, first, "late", again=True)
    assert (await deliveries())[0].claim == second.claim
    await in_db(notifiers.sent, second)
    await make_due()
    assert await in_db(notifiers.claim, 10) == []
    row = await in_db(Notifier.objects.get, id=notifier.id)
    assert (row.result, row.words) == ("sent", "")


async def test_it_is_tried_again_ever_later_and_given_up_in_the_end(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    notifier = await kept()
    await turn(talk.session)
    waits = []
    for _ in range(len(BACKOFF) + 1):
        await make_due()
        one = await claimed()
        before = now()
        await in_db(notifiers.failed, one, "It answered 503.", again=True)
        waits.append(round(((await deliveries())[0].time_due - before) / 1000))
    assert waits[:-1] == list(BACKOFF)
    assert [row.state for row in await deliveries()] == ["failed"]
    row = await in_db(Notifier.objects.get, id=notifier.id)
    assert (row.result, row.words) == ("failed", "It answered 503.")


async def test_it_waits_for_as_long_as_the_other_end_says(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept()
    await turn(talk.session)
    one = await claimed()
    await in_db(notifiers.failed, one, "", again=True, seconds=900.0)
    (row,) = await deliveries()
    assert row.time_due - now() > 890_000


@pytest.mark.parametrize(
    ("at", "zone", "quiet", "until"),
    [
        ("2026-06-01T12:00", BERLIN, ("22:00", "07:00"), "2026-06-01T12:00"),
        ("2026-06-01T23:00", BERLIN, ("22:00", "07:00"), "2026-06-02T07:00"),
        ("2026-06-02T03:00", BERLIN, ("22:00", "07:00"), "2026-06-02T07:00"),
        ("2026-06-02T07:00", BERLIN, ("22:00", "07:00"), "2026-06-02T07:00"),
        ("2026-06-02T13:00", BERLIN, ("12:00", "14:00"), "2026-06-02T14:00"),
        ("2026-06-02T15:00", BERLIN, ("12:00", "14:00"), "2026-06-02T15:00"),
        ("2026-06-02T15:00", BERLIN, ("12:00", "12:00"), "2026-06-02T15:00"),
        # The clocks go forward at 2:00, and back at 3:00.
        ("2026-03-28T23:30", BERLIN, ("22:00", "07:00"), "2026-03-29T07:00"),
        ("2026-10-24T23:30", BERLIN, ("22:00", "07:00"), "2026-10-25T07:00"),
        ("2026-06-01T23:00", "nowhere", ("22:00", "07:00"), "2026-06-02T07:00"),
    ],
)
def test_quiet_hours_are_by_the_clock_of_the_person(
    at: str, zone: str, quiet: tuple[str, str], until: str
) -> None:
    place = ZoneInfo(zone if zone == BERLIN else "UTC")
    moment = int(datetime.fromisoformat(at).replace(tzinfo=place).timestamp() * 1000)
    notifier = Notifier(zone=zone, quiet_from=quiet[0], quiet_until=quiet[1])
    found = datetime.fromtimestamp(notifiers.due(notifier, moment) / 1000, place)
    assert found.replace(tzinfo=None).isoformat("T", "minutes") == until


async def test_what_is_secret_is_sealed_and_stays_where_nothing_else_is_given(tmp_path: Path) -> None:
    notifier = await kept()
    assert "s3cret" not in notifier.sealed
    assert "topic" not in notifier.sealed
    again = await in_db(notifiers.save, choice(name="Other", target=Target("")), "", notifier)
    assert await in_db(notifiers.target_of, again) == Target("https://push.example/topic", secret="s3cret")
    assert again.name == "Other"


async def test_one_that_was_sealed_with_another_secret_says_so(settings: Any) -> None:
    notifier = await kept()
    settings.SECRET_KEY = "another"
    with pytest.raises(NotifierRefused, match="give it again"):
        await in_db(notifiers.target_of, notifier)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"kinds": []},
        {"kinds": ["other"]},
        {"wait": -1},
        {"quiet_from": "25:00", "quiet_until": "07:00"},
        {"quiet_from": "22:00"},
        {"target": Target("x" * 5000)},
    ],
)
async def test_what_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NotifierRefused):
        await kept(**wrong)


async def test_old_ones_are_forgotten_but_none_that_waits(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await kept()
    await turn(talk.session)
    await in_db(notifiers.sent, await claimed())
    await turn(talk.session)
    await in_db(lambda: Delivery.objects.update(time_created=1))
    assert await in_db(notifiers.tidy) == 1
    assert [row.state for row in await deliveries()] == ["waiting"]
