"""Comparisons as rows: which attempt begins, who measures and who judges, and what a stop leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Attempt, Comparison, Project, Session
from sessions.core.store import comparisons, goals, inbox, line, projects, pursuits
from sessions.core.store import sessions as session_store
from sessions.core.store.comparisons import ComparisonRefused, Measure, Terms, Way
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
WAYS = [Way("build", "p", name) for name in ("a", "b", "c")]
TERMS = Terms("Do it.", WAYS, ["make test"])
PARTS = [{"type": "text", "text": "Do it."}]
COMMIT = "0" * 40


async def made(tmp_path: Path, terms: Terms = TERMS, **given: Any) -> Comparison:
    talk = await Talk.begin(tmp_path / "project")
    return await in_db(comparisons.begin, talk.project, terms, COMMIT, **given)


def worktree(attempt: Attempt, tmp_path: Path) -> Project:
    folder = tmp_path / f"worktree-{attempt.number}"
    return projects.worktree_row(attempt.comparison.project, folder, f"opencode/{attempt.number}")


async def begun(comparison: Comparison, tmp_path: Path, owner: str = "w") -> Session | None:
    """The session of the next attempt, whose prompt was answered; None where none may begin."""
    attempt = await in_db(comparisons.claim, owner)
    if attempt is None:
        return None
    row = worktree(attempt, tmp_path)
    session = await in_db(comparisons.begun, attempt, row, row.worktree, PARTS)
    assert session is not None
    (waiting,) = await in_db(inbox.waiting, session.id)
    await in_db(inbox.promote, waiting.id, agent="build", provider_id="p", model_id="m")
    return session


async def measured(session: Session, **found: Any) -> str:
    attempt = await in_db(comparisons.due, session.id)
    assert attempt is not None
    return await in_db(comparisons.measured, attempt, Measure(**found))


async def states(comparison: Comparison) -> list[str]:
    return [str(row.state) for row in await in_db(comparisons.attempts, comparison)]


async def now(comparison: Comparison) -> Comparison:
    return await in_db(Comparison.objects.get, id=comparison.id)


async def test_an_attempt_begins_with_all_that_it_has_or_not_at_all(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, preset="edits", at_once=2))
    attempt = await in_db(comparisons.claim, "w")
    assert attempt is not None
    assert (attempt.number, await states(comparison)) == (1, ["making", "waiting", "waiting"])
    row = worktree(attempt, tmp_path)
    session = await in_db(comparisons.begun, attempt, row, row.worktree, PARTS)
    assert session is not None
    kept = await in_db(session_store.get, session.id)
    assert kept is not None
    assert (kept.project_id, kept.title, kept.preset) == (row.id, "Do it. · 1", "edits")
    assert (kept.agent, kept.provider_id, kept.model_id) == ("build", "p", "a")
    (waiting,) = await in_db(inbox.waiting, session.id)
    assert (waiting.model_id, waiting.parts) == ("a", PARTS)
    assert await in_db(comparisons.begun, attempt, row, row.worktree, PARTS) is None, "it has begun"


async def test_no_more_than_so_many_work_at_once(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, at_once=2))
    first, second = await begun(comparison, tmp_path), await begun(comparison, tmp_path)
    assert first is not None
    assert second is not None
    assert await in_db(comparisons.claim, "w") is None
    assert await measured(first) == ""
    third = await begun(comparison, tmp_path)
    assert third is not None
    assert await states(comparison) == ["measured", "running", "running"]


async def test_what_a_dead_worker_claimed_begins_anew_and_its_own_comes_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = await made(tmp_path, replace(TERMS, at_once=1))
    lost = await in_db(comparisons.claim, "dead")
    assert lost is not None
    monkeypatch.setattr("sessions.core.workers.is_dead", lambda name: name == "dead")
    session = await begun(comparison, tmp_path)
    assert session is not None
    row = worktree(lost, tmp_path / "other")
    assert await in_db(comparisons.begun, lost, row, row.worktree, PARTS) is None
    await in_db(comparisons.fail, lost, "No.")
    assert await states(comparison) == ["running", "waiting", "waiting"]
    assert await in_db(Session.objects.filter(project__worktree_of=comparison.project).count) == 1


async def test_the_last_one_that_is_measured_has_all_judged(tmp_path: Path) -> None:
    comparison = await made(tmp_path)
    found = [await begun(comparison, tmp_path) for _ in WAYS]
    sessions = [session for session in found if session is not None]
    for session in sessions:
        assert await in_db(pursuits.has_work, session.id)
    assert sorted(await in_db(pursuits.sessions_due)) == sorted(session.id for session in sessions)
    assert {row.session_id for row in await in_db(line.line)} == {session.id for session in sessions}
    check = {"check": "make test", "passed": True, "output": "", "exit": 0, "time": 1}
    assert await measured(sessions[1], checks=[check], tests={"passed": 2}, problems=(1, 0)) == ""
    assert not await in_db(pursuits.due, sessions[1].id)
    assert await measured(sessions[2], error="It failed.") == ""
    assert await measured(sessions[0], files=2, additions=3, deletions=1) == sessions[0].id
    assert await states(comparison) == ["judging", "measured", "measured"]
    judge = await in_db(comparisons.due, sessions[0].id)
    assert judge is not None
    await in_db(comparisons.judged, judge, 2, "It is right.", {1: "One.", 2: "Two."})
    row, attempts = await now(comparison), await in_db(comparisons.attempts, comparison)
    assert (row.state, row.best, row.words) == ("done", 2, "It is right.")
    assert [one.words for one in attempts] == ["One.", "Two.", ""]
    assert (attempts[1].checks, attempts[1].tests) == ([check], {"passed": 2})
    assert (attempts[1].problems_before, attempts[1].problems_after) == (1, 0)
    assert (attempts[0].files, attempts[0].additions, attempts[0].deletions) == (2, 3, 1)
    assert attempts[2].error == "It failed."
    assert await in_db(pursuits.sessions_due) == []


async def test_nobody_judges_where_nobody_is_to(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, judge=goals.NOBODY, ways=WAYS[:2]))
    sessions = [await begun(comparison, tmp_path) for _ in range(2)]
    for session in sessions:
        assert session is not None
        assert await measured(session) == ""
    assert ((await now(comparison)).state, await states(comparison)) == ("done", ["measured"] * 2)


async def test_those_that_cannot_begin_are_not_waited_for(tmp_path: Path) -> None:
    comparison = await made(tmp_path)
    for _ in WAYS:
        attempt = await in_db(comparisons.claim, "w")
        assert attempt is not None
        await in_db(comparisons.fail, attempt, "There is no room.")
    row = await now(comparison)
    assert (row.state, row.time_ended is not None) == ("done", True)
    assert {one.error for one in await in_db(comparisons.attempts, comparison)} == {"There is no room."}


async def test_a_stop_begins_no_other_and_nobody_judges(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, at_once=2))
    session = await begun(comparison, tmp_path)
    claimed = await in_db(comparisons.claim, "w")
    assert session is not None
    assert claimed is not None
    assert await in_db(comparisons.stop, comparison) == [session.id]
    assert await states(comparison) == ["running", "failed", "failed"]
    row = worktree(claimed, tmp_path)
    assert await in_db(comparisons.begun, claimed, row, row.worktree, PARTS) is None
    await in_db(pursuits.stop, session.id)
    assert await states(comparison) == ["running", "failed", "failed"], "its turn ends, then it is measured"
    assert await measured(session) == ""
    assert (await now(comparison)).state == "done"
    assert await in_db(comparisons.claim, "w") is None


async def test_a_stop_ends_what_is_measured_and_judged(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, ways=WAYS[:2]))
    first, second = await begun(comparison, tmp_path), await begun(comparison, tmp_path)
    assert first is not None
    assert second is not None
    attempt = await in_db(comparisons.due, first.id)
    assert attempt is not None
    assert await in_db(comparisons.look, attempt, "make test", begins=True)
    await in_db(pursuits.stop, first.id)
    assert not await in_db(comparisons.look, attempt, "the next")
    await in_db(comparisons.measured, attempt, Measure(files=9))
    rows = await in_db(comparisons.attempts, comparison)
    assert (rows[0].state, rows[0].error, rows[0].files) == ("measured", "You stopped it.", 0)
    assert await measured(second) == first.id
    await in_db(pursuits.stop, first.id)
    row = await now(comparison)
    assert (row.state, row.best, row.words) == ("done", 0, "You stopped it.")


async def test_measuring_that_ends_the_server_each_time_is_given_up(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, ways=WAYS[:2], judge=goals.NOBODY))
    session = await begun(comparison, tmp_path)
    assert session is not None
    attempt = await in_db(comparisons.due, session.id)
    assert attempt is not None
    begins = [await in_db(comparisons.look, attempt, "", begins=True) for _ in range(4)]
    assert begins == [True, True, True, False]
    rows = await in_db(comparisons.attempts, comparison)
    assert "The server ended each time" in rows[0].error


async def test_one_whose_session_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, ways=WAYS[:2]))
    first, second = await begun(comparison, tmp_path), await begun(comparison, tmp_path)
    assert first is not None
    assert second is not None
    await in_db(session_store.delete, first.id)
    await in_db(comparisons.settle_orphans)
    assert await states(comparison) == ["measured", "running"]
    assert await measured(second) == second.id
    await in_db(session_store.delete, second.id)
    await in_db(comparisons.settle_orphans)
    row = await now(comparison)
    assert (row.state, row.words) == ("done", "Its session was deleted.")


async def test_it_is_measured_again_once_all_have_ended(tmp_path: Path) -> None:
    comparison = await made(tmp_path, replace(TERMS, ways=WAYS[:2]))
    first, second = await begun(comparison, tmp_path), await begun(comparison, tmp_path)
    assert first is not None
    assert second is not None
    await measured(first)
    rows = await in_db(comparisons.attempts, comparison)
    with pytest.raises(ComparisonRefused):
        await in_db(comparisons.measure_again, rows[0])
    await measured(second)
    judge = await in_db(comparisons.due, first.id)
    assert judge is not None
    await in_db(comparisons.judged, judge, 1, "Good.", {})
    await in_db(comparisons.measure_again, rows[0])
    assert await in_db(pursuits.due, first.id)
    assert await measured(first, files=7) == ""
    row = await now(comparison)
    assert (row.state, row.best, row.words) == ("done", 1, "Good.")


async def test_the_same_id_is_the_same_comparison(tmp_path: Path) -> None:
    known = ascending("cmp")
    first = await made(tmp_path, id=known)
    again = await in_db(comparisons.begin, first.project, TERMS, COMMIT, id=known)
    assert (again.id, await in_db(Comparison.objects.count)) == (first.id, 1)
    other = await Talk.begin(tmp_path / "other")
    with pytest.raises(ComparisonRefused):
        await in_db(comparisons.begin, other.project, TERMS, COMMIT, id=known)


@pytest.mark.parametrize(
    "terms",
    [
        replace(TERMS, prompt=" "),
        replace(TERMS, prompt="x" * 20_001),
        replace(TERMS, ways=WAYS[:1]),
        replace(TERMS, ways=WAYS * 5),
        replace(TERMS, at_once=0),
        replace(TERMS, at_once=99),
        replace(TERMS, checks=["true"] * 21),
    ],
)
async def test_what_cannot_be_compared(tmp_path: Path, terms: Terms) -> None:
    with pytest.raises(ComparisonRefused):
        await made(tmp_path, terms)
