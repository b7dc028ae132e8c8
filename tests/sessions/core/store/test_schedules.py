"""Schedules as rows: what is due is claimed once, begins once, and ends with what its run came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import AdmittedPrompt, Occurrence, Schedule, Session
from sessions.core.store import goals, inbox, resumption, schedules
from sessions.core.store import sessions as session_store
from sessions.core.store.schedules import Happened, Outcome, ScheduleRefused, State, Terms
from sessions.core.wire.session import Status
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = Terms("Nightly", "cron", "0 3 * * *", "UTC", "Look around.")
AT = 1_800_000_000_000
NEXT = AT + 24 * 3_600_000


async def made(tmp_path: Path, terms: Terms = TERMS, **more: Any) -> tuple[Talk, Schedule]:
    talk = await Talk.begin(tmp_path / "project")
    return talk, await in_db(schedules.create, talk.project, terms, **{"due": AT, **more})


def prompt(session: Session, *, actor: str) -> object:
    return inbox.admit(session, [{"type": "text", "text": "Look around."}], actor=actor)


async def noted(row: Schedule, key: str, **more: Any) -> Occurrence | None:
    return await in_db(schedules.note, row, Happened(key, "hand", AT, **more))


async def begun(row: Schedule, key: str = "hand 1") -> Occurrence:
    await noted(row, key)
    (found,) = await in_db(schedules.to_begin)
    assert await in_db(schedules.begin, found, row.project, prompt) is not None
    (run,) = await in_db(schedules.running)
    return run


async def states(row: Schedule) -> list[str]:
    return [one.state for one in reversed(await in_db(schedules.occurrences, row.id))]


async def test_a_time_is_claimed_by_whoever_is_first(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    (one,), (other,) = await in_db(schedules.due, AT), await in_db(schedules.due, AT)
    happened = Happened(f"time {AT}", "time", AT)
    assert await in_db(schedules.pass_on, one, happened, due=NEXT) is not None
    assert await in_db(schedules.pass_on, other, happened, due=NEXT) is None
    assert await in_db(schedules.due, AT) == []
    assert await in_db(schedules.nearest) == NEXT
    assert await states(row) == ["waits"]


async def test_a_clock_that_was_put_back_brings_no_time_again(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    (one,) = await in_db(schedules.due, AT)
    happened = Happened(f"time {AT}", "time", AT)
    await in_db(schedules.pass_on, one, happened, due=NEXT)
    await in_db(schedules.update, row, due=AT)
    (again,) = await in_db(schedules.due, AT)
    assert await in_db(schedules.pass_on, again, happened, due=NEXT) is None
    assert await states(row) == ["waits"]


async def test_a_run_begins_once_with_its_session_and_prompt(tmp_path: Path) -> None:
    _, row = await made(tmp_path, Terms("N", "hook", "", "UTC", "x", preset="edits", minutes=5), due=None)
    await noted(row, "hook 1")
    (one,), (other,) = await in_db(schedules.to_begin), await in_db(schedules.to_begin)
    session = await in_db(schedules.begin, one, row.project, prompt)
    assert session is not None
    assert await in_db(schedules.begin, other, row.project, prompt) is None
    (run,) = await in_db(schedules.running)
    assert run.session_id == session.id
    assert run.until is not None
    assert (session.title, run.session.preset if run.session else "") == ("N", "edits")
    assert await in_db(AdmittedPrompt.objects.filter(session=session).count) == 1
    assert await in_db(schedules.run_of, session.id) == run


async def test_one_that_fails_to_begin_leaves_nothing(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    await noted(row, "hand 1")
    (found,) = await in_db(schedules.to_begin)
    before = await in_db(Session.objects.count)

    def refused(session: Session, *, actor: str) -> object:
        return inbox.admit(session, [], actor=actor)

    with pytest.raises(inbox.PromptRefused):
        await in_db(schedules.begin, found, row.project, refused)
    assert await in_db(Session.objects.count) == before
    assert await states(row) == ["waits"]


async def test_while_one_runs_the_newest_waits(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    run = await begun(row)
    for number in (2, 3, 4):
        await noted(row, f"hand {number}")
    assert await in_db(schedules.to_begin) == []
    assert await states(row) == ["runs", "skipped", "skipped", "waits"]
    await in_db(schedules.end, run, State.DONE)
    (last,) = await in_db(schedules.to_begin)
    assert last.key == "hand 4"
    assert not await in_db(schedules.end, run, State.FAILED), "it is over already"


async def test_what_came_of_a_run(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    run = await begun(row)
    session_id = str(run.session_id)
    assert await in_db(schedules.outcome, run) is None, "its prompt waits"
    (waiting,) = await in_db(inbox.waiting, session_id)
    message = await in_db(inbox.promote, waiting.id, agent="b", provider_id="p", model_id="m", answered=True)
    assert message is not None
    assert await in_db(schedules.outcome, run) is None, "it is at work"
    talk = Talk(row.project, await in_db(Session.objects.get, id=session_id))
    answer = await talk.answer(message.id)
    await talk.text(answer, "It is fine.", ended=True)
    await in_db(session_store.set_status, session_id, Status(type="idle"))
    assert await in_db(schedules.outcome, run) == Outcome("done", "", "It is fine.")
    error = {"name": "APIError", "data": {"message": "No more today."}}
    await in_db(session_store.set_status, session_id, Status(type="idle"), error=error)
    assert await in_db(schedules.outcome, run) == Outcome("failed", "No more today.", "It is fine.")
    await in_db(resumption.note, message.id, "due")
    assert await in_db(schedules.outcome, run) is None, "it goes on"
    await in_db(session_store.delete, session_id)
    assert await in_db(schedules.outcome, run) == Outcome("stopped", schedules.GONE)


async def test_what_a_goal_came_to(tmp_path: Path) -> None:
    terms = Terms("N", "hook", "", "UTC", "Reach it.", goal={"checks": ["true"]})
    _, row = await made(tmp_path, terms, due=None)

    def of_goal(session: Session, *, actor: str) -> object:
        parts = [{"type": "text", "text": "Reach it."}]
        return goals.begin(session, goals.Terms("Reach it.", ["true"]), lambda goal: parts, actor=actor)

    await noted(row, "hook 1")
    (found,) = await in_db(schedules.to_begin)
    session = await in_db(schedules.begin, found, row.project, of_goal)
    assert session is not None
    (run,) = await in_db(schedules.running)
    (waiting,) = await in_db(inbox.waiting, session.id)
    await in_db(inbox.promote, waiting.id, agent="b", provider_id="p", model_id="m")
    assert await in_db(schedules.outcome, run) is None, "its goal is active"
    goal = await in_db(goals.current, session.id)
    assert goal is not None
    await in_db(goals.halt, goal, goal.State.BLOCKED, "It cannot be.")
    assert await in_db(schedules.outcome, run) == Outcome("blocked", "It cannot be.")


@pytest.mark.parametrize(("limit", "words"), [({"cost": 1.0}, "cost"), ({"minutes": 1}, "time")])
async def test_a_limit_ends_it_in_words(tmp_path: Path, limit: dict[str, Any], words: str) -> None:
    _, row = await made(tmp_path, Terms("N", "hook", "", "UTC", "x", **limit), due=None)
    run = await begun(row)
    session_id = str(run.session_id)
    assert await in_db(schedules.has_budget, session_id)
    assert not await in_db(schedules.is_spent, session_id)
    await in_db(Session.objects.filter(id=session_id).update, cost=1.5)
    await in_db(Occurrence.objects.filter(id=run.id, until__isnull=False).update, until=now())
    assert await in_db(schedules.is_spent, session_id)
    (run,) = await in_db(schedules.running)
    assert not schedules.is_over(run, now()), "it may say its last words"
    assert schedules.is_over(run, now() + schedules.LAST_WORDS) == ("minutes" in limit)
    (waiting,) = await in_db(inbox.waiting, session_id)
    message = await in_db(inbox.promote, waiting.id, agent="b", provider_id="p", model_id="m")
    assert message is not None
    await Talk(row.project, await in_db(Session.objects.get, id=session_id)).answer(message.id)
    found = await in_db(schedules.outcome, run)
    assert found is not None
    assert (found.state, words in found.reason) == ("spent", True)


async def test_how_runs_ended_is_unread_until_somebody_looks(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    run = await begun(row)
    await in_db(Session.objects.filter(id=run.session_id).update, unread=True)
    await in_db(schedules.end, run, State.DONE)
    assert await in_db(schedules.unread) == [run]
    await in_db(session_store.read, str(run.session_id))
    assert await in_db(schedules.unread) == []
    failed = await noted(row, "hand 2")
    assert failed is not None
    await in_db(schedules.end, failed, State.FAILED, "The folder is gone.")
    assert await in_db(schedules.unread) == [failed], "though it has no session"
    await in_db(schedules.read, failed.id)
    assert await in_db(schedules.unread) == []


async def test_what_is_paused_or_has_a_problem_is_not_due(tmp_path: Path) -> None:
    _, row = await made(tmp_path)
    for columns in ({"paused": True}, {"paused": False, "problem": "It waits."}):
        await in_db(schedules.update, row, **columns)
        assert await in_db(schedules.due, AT) == []
        assert await in_db(schedules.nearest) is None
        happened = Happened("x", "time", AT)
        assert await in_db(schedules.pass_on, row, happened, due=NEXT) is None


async def test_old_occurrences_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_KEPT", 2)
    _, row = await made(tmp_path)
    await begun(row, "hand 0")
    for number in range(1, 5):
        await noted(row, f"hand {number}", reason="Left out.")
    await in_db(schedules.prune)
    assert await states(row) == ["runs", "skipped", "skipped"]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (Terms(" ", "hook", "", "UTC", "x"), "a name"),
        (Terms("n", "hook", "", "UTC", " "), "what is to be done"),
        (Terms("n", "moon", "", "UTC", "x"), "when"),
        (Terms("n", "hook", "", "UTC", "x", cost=-1), "from 0"),
        (Terms("n", "hook", "", "UTC", "x" * 100_001), "too long"),
    ],
)
async def test_what_is_no_schedule(tmp_path: Path, terms: Terms, words: str) -> None:
    with pytest.raises(ScheduleRefused, match=words):
        await made(tmp_path, terms)
