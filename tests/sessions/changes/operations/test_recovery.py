"""A server that ends in the middle of an undo: the next start finishes it, or nothing has happened."""

from __future__ import annotations

import logging

import pytest

from sessions.changes.operations.conversation import revert, unrevert
from sessions.changes.operations.engine import as_intents, as_outcome, recover
from sessions.changes.roots import Roots
from sessions.changes.tracking import as_change
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import FilePlan, plan_undo
from sessions.core.db import in_db
from sessions.core.models import FileChange, Operation, Session
from sessions.core.store import leases, ledger, operations
from tests.sessions.changes.review.world import World, fresh

FILES = {f"{n}.txt": f"{n}\n" for n in range(6)} | {"kept.txt": "changed\n", "in/new/folder.txt": "f\n"}


async def begun(world: World, session: Session, prompt: str) -> list[FilePlan]:
    """An undo as far as its rows: what a server leaves that ends before it touches a file."""
    await in_db(leases.claim, session.id, "worker:undo-x", 3600)
    rows = await in_db(lambda: list(ledger.by_tools(session.id)))
    plan = plan_undo([as_change(row) for row in rows], world.tracker.objects, world.root)
    await noted(world, session, Operation.Kind.REVERT, prompt, plan)
    return plan


async def noted(
    world: World, session: Session, kind: Operation.Kind, prompt: str, plan: list[FilePlan]
) -> None:
    intents = as_intents(plan, Roots(world.tracker))
    for intent in intents:
        intent.session, intent.message_id = session, prompt
    outcome = as_outcome(plan)
    await in_db(operations.begin, session, kind, intents, outcome=outcome, message_id=prompt)


async def test_nothing_written_is_withdrawn(world: World, caplog: pytest.LogCaptureFixture) -> None:
    session = await world.session()
    prompt = await world.turn(session, FILES)
    after = world.state()
    await begun(world, session, prompt)
    with caplog.at_level(logging.WARNING):
        await recover()
    assert "0 of 8 files: withdrawn" in caplog.text
    assert world.state() == after
    row = await fresh(session)
    assert (row.revert, row.lease_owner) == (None, "")
    assert (await in_db(Operation.objects.get)).state == "withdrawn", "the log keeps that it was begun"
    assert await in_db(FileChange.objects.exclude(operation=None).count) == 0


@pytest.mark.parametrize("written", [1, 4, 8])
async def test_the_rest_is_written(world: World, caplog: pytest.LogCaptureFixture, written: int) -> None:
    before = world.state()
    session = await world.session()
    prompt = await world.turn(session, FILES)
    after = world.state()
    plan = await begun(world, session, prompt)
    apply(plan[:written], world.root, world.tracker.objects)
    with caplog.at_level(logging.WARNING):
        await recover()
    assert f"{written} of 8 files: finished" in caplog.text
    assert world.state() == before
    row = await fresh(session)
    assert row.revert is not None
    assert row.revert["messageID"] == prompt
    assert row.lease_owner == ""
    await unrevert(row)
    assert world.state() == after


async def test_what_was_edited_after_the_crash_is_left_alone(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, FILES)
    plan = await begun(world, session, prompt)
    apply(plan[:1], world.root, world.tracker.objects)
    world.write("kept.txt", "mine\n")
    await recover()
    assert (world.root / "kept.txt").read_text() == "mine\n"
    operation = await in_db(Operation.objects.get)
    ends = {entry["path"]: entry["outcome"] for entry in operation.outcome}
    assert ends["kept.txt"] == "conflict"
    assert set(ends.values()) == {"restore", "conflict"}


async def test_a_redo_is_finished_too(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, FILES)
    after = world.state()
    session = await revert(session, prompt)
    rows = await in_db(lambda: operations.changes_of(operations.active(session.id)))
    plan = plan_undo([as_change(row) for row in rows], world.tracker.objects, world.root)
    await noted(world, session, Operation.Kind.UNREVERT, prompt, plan)
    apply(plan[:3], world.root, world.tracker.objects)
    await recover()
    assert world.state() == after
    assert (await fresh(session)).revert is None
    await recover()
    assert world.state() == after, "a second start has nothing left to do"


async def test_what_its_owner_settles_meanwhile_is_left_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await world.session()
    prompt = await world.turn(session, FILES)
    after = world.state()
    plan = await begun(world, session, prompt)
    apply(plan[:1], world.root, world.tracker.objects)
    read = await in_db(operations.planned)
    await recover()
    await unrevert(await fresh(session))
    monkeypatch.setattr(operations, "planned", lambda: read)
    await recover()
    assert world.state() == after
    assert (await fresh(session)).revert is None
    assert await in_db(FileChange.objects.filter(operation=read[0]).count) == 8
