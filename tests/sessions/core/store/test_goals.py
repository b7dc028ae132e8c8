"""Goals as rows: a verdict and what follows from it, what is used, who holds the mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.core.db import in_db
from sessions.core.models import Goal, Session, Verdict
from sessions.core.store import goals, inbox, line, presets, pursuits
from sessions.core.store import sessions as session_store
from sessions.core.store.goals import GoalRefused, Terms
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = Terms("Reach it.", ["make test"])


def first(goal: Goal) -> list[dict[str, Any]]:
    return [{"type": "text", "text": goal.objective, "metadata": {goals.MARK: goal.id}}]


def found(outcome: str = "go_on", digest: str = "a", word: str = "go_on") -> Verdict:
    return Verdict(outcome=outcome, digest=digest, word=word, words="Words.", reason="Words.")


async def begun(tmp_path: Path, terms: Terms = TERMS, **choice: Any) -> tuple[Talk, Goal]:
    talk = await Talk.begin(tmp_path / "project")
    return talk, await in_db(goals.begin, talk.session, terms, first, **choice)


async def promoted(talk: Talk) -> None:
    """The prompt that waits is answered."""
    (waiting,) = await in_db(inbox.waiting, talk.session.id)
    await in_db(inbox.promote, waiting.id, agent="build", provider_id="p", model_id="m")


async def settled(goal: Goal, verdict: Verdict, text: str = "Go on.") -> str:
    parts = [{"type": "text", "text": text, "metadata": {goals.MARK: goal.id}}]
    return await in_db(goals.settle, goal, verdict, lambda: parts)


async def texts(talk: Talk) -> list[str]:
    return [row.parts[0]["text"] for row in await in_db(inbox.waiting, talk.session.id)]


async def now(goal: Goal) -> Goal:
    return await in_db(Goal.objects.get, id=goal.id)


async def test_a_verdict_brings_its_prompt_along(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    assert await texts(talk) == ["Reach it."]
    assert await in_db(pursuits.sessions_due) == [talk.session.id]
    await promoted(talk)
    assert await in_db(pursuits.has_work, talk.session.id)
    assert await settled(goal, found()) == "go_on"
    assert await texts(talk) == ["Go on."]
    await promoted(talk)
    assert await settled(goal, found("done")) == "done"
    assert await texts(talk) == []
    assert not await in_db(pursuits.has_work, talk.session.id)
    assert [row.number for row in await in_db(goals.verdicts, goal)] == [1, 2]


async def test_one_that_is_paused_or_changed_meanwhile_gets_no_verdict(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    await in_db(goals.change, talk.session, Terms("Another.", ["make test"]))
    assert await settled(goal, found()) == ""
    goal = await now(goal)
    await in_db(goals.pause, talk.session.id)
    assert await texts(talk) == [], "its prompt that waits is taken back"
    assert await settled(goal, found()) == ""
    assert await in_db(goals.verdicts, goal) == []
    assert not await in_db(goals.look, goal, "make test")


async def test_the_same_prompt_is_the_same_goal(tmp_path: Path) -> None:
    message_id = "msg_0123456789abABCDEFGHIJKLMN"
    talk, goal = await begun(tmp_path, message_id=message_id)
    again = await in_db(goals.begin, talk.session, TERMS, first, message_id=message_id)
    assert again.id == goal.id
    assert await texts(talk) == ["Reach it."]
    await promoted(talk)
    assert (await in_db(goals.begin, talk.session, TERMS, first, message_id=message_id)).id == goal.id
    other = await in_db(goals.begin, talk.session, TERMS, first)
    assert (await now(goal)).state == "ended"
    assert (await in_db(goals.current, talk.session.id)) == other


async def test_three_without_progress_block_it_and_progress_counts_anew(tmp_path: Path) -> None:
    _, goal = await begun(tmp_path)
    for digest in "aab":
        assert await settled(goal, found(digest=digest)) == "go_on"
    assert [await settled(goal, found(digest="b")) for _ in range(3)] == ["go_on", "go_on", "blocked"]
    assert (await now(goal)).reason == "Words."


async def test_the_word_blocked_counts_though_files_change(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    outcomes = [await settled(goal, found(digest=digest, word="blocked")) for digest in "abc"]
    assert outcomes == ["go_on", "go_on", "blocked"]
    await in_db(goals.go_on, talk.session)
    assert await settled(goal, found(digest="d", word="blocked")) == "go_on"


@pytest.mark.parametrize("budget", [{"turns": 1}, {"tokens": 100}, {"cost": 0.5}])
async def test_a_budget_counts_from_its_beginning_with_subagents(
    tmp_path: Path, budget: dict[str, Any]
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    spent = {"input": 400, "output": 0, "cache": {"read": 0, "write": 0}}
    await in_db(Session.objects.filter(id=talk.session.id).update, tokens=spent, cost=3.0)
    goal = await in_db(goals.begin, talk.session, Terms("Reach it.", **budget), first)
    assert not (await in_db(goals.used, goal)).spent(goal)
    child = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    more = {"input": 50, "output": 20, "cache": {"read": 30, "write": 0}}
    await in_db(Session.objects.filter(id=child.id).update, tokens=more, cost=0.5)
    assert await settled(goal, found()) == "spent"
    assert "budget is used up" in (await now(goal)).reason
    with pytest.raises(GoalRefused, match="Give it more first"):
        await in_db(goals.go_on, talk.session)
    await in_db(goals.change, talk.session, Terms("Reach it.", turns=9, tokens=999, cost=9.0))
    assert (await in_db(goals.go_on, talk.session)).state == "active"


async def test_its_mode_holds_while_it_is_active(tmp_path: Path) -> None:
    talk, _ = await begun(tmp_path, Terms("Reach it.", preset="alone"))

    async def mode() -> str:
        row = await in_db(session_store.get, talk.session.id)
        assert row is not None
        return row.preset

    assert await mode() == "alone"
    await in_db(goals.pause, talk.session.id)
    assert await mode() == ""
    await in_db(goals.go_on, talk.session)
    assert await mode() == "alone"
    await in_db(presets.switch, talk.session, "ask")
    await in_db(goals.end, talk.session.id)
    assert await mode() == "ask", "a person has chosen another one since"


async def test_errors_count_from_where_it_was_gone_on_with(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    prompt = await talk.prompt()
    error = {"name": "APIError", "data": {"message": "No more today."}}
    await talk.answer(prompt, time={"created": 1, "completed": 2}, error=error)
    assert await in_db(goals.obstacle, goal) == "No more today."
    await in_db(goals.halt, goal, Goal.State.BLOCKED, "No more today.")
    goal = await in_db(goals.go_on, talk.session)
    assert await in_db(goals.obstacle, goal) == ""


async def test_checks_that_begin_too_often_block_it(tmp_path: Path) -> None:
    _, goal = await begun(tmp_path)
    begins = [await in_db(goals.look, goal, "", begins=True) for _ in range(goals.MOST_TRIES + 1)]
    assert begins == [True] * goals.MOST_TRIES + [False]
    assert (await now(goal)).state == "blocked"


async def test_it_stands_in_the_line(tmp_path: Path) -> None:
    talk, goal = await begun(tmp_path)
    await promoted(talk)
    assert [one.session_id for one in await in_db(line.line)] == [talk.session.id]
    await in_db(goals.halt, goal, Goal.State.DONE, "")
    assert await in_db(line.line) == []


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (Terms(" "), "Say what"),
        (Terms("x", turns=-1), "a number from 0"),
        (Terms("x", judge=goals.NOBODY), "nothing would say"),
        (Terms("x", ["true"] * 21), "At most 20"),
        (Terms("x" * 20_001), "too long"),
    ],
)
async def test_what_is_no_goal(tmp_path: Path, terms: Terms, words: str) -> None:
    with pytest.raises(GoalRefused, match=words):
        await begun(tmp_path, terms)


async def test_a_subagent_has_none(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    child = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    with pytest.raises(GoalRefused, match="subagents"):
        await in_db(goals.begin, child, TERMS, first)
