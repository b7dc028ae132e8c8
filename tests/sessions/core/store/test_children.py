"""Child sessions in the rows: the way up and down, what a cut-off errand leaves, whom a change is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent import recovery
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import FileChange, Session
from sessions.core.store import children, family, inbox, leases, ledger, usage
from sessions.core.store import sessions as session_store
from sessions.core.wire.base import Tokens
from sessions.core.wire.parts import ToolPart
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def below(talk: Talk, parent: Session) -> Session:
    return await in_db(session_store.create, talk.project, parent.directory, parent=parent.id, title="below")


async def errand(talk: Talk, child: Session, **metadata: str) -> ToolPart:
    """A running `task` call of the talk, in a child session."""
    answer = await talk.answer(await talk.prompt())
    known: dict[str, Any] = {"sessionId": child.id, **metadata}
    state = {"status": "running", "input": {}, "metadata": known, "time": {"start": 1}}
    part = await talk.part(answer, "tool", callID="call", tool="task", state=state)
    assert isinstance(part, ToolPart)
    return part


async def test_the_family_is_found_from_both_ends(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    child = await below(talk, talk.session)
    grandchild, other = await below(talk, child), await below(talk, talk.session)
    line = await in_db(family.line, grandchild.id)
    assert [row.id for row in line] == [talk.session.id, child.id, grandchild.id]
    assert await in_db(family.roots, [grandchild.id, talk.session.id]) == {talk.session.id}
    assert await in_db(family.line, "ses_gone") == []
    assert await in_db(family.roots, ["ses_gone", child.id]) == {"ses_gone", talk.session.id}
    assert [row.id for row in await in_db(children.listing, talk.session.id)] == [child.id, other.id]
    await in_db(leases.claim, grandchild.id, "worker", 3600)
    assert await in_db(children.at_work_below, talk.session.id) == [grandchild.id]
    await in_db(leases.claim, talk.session.id, "worker", 3600)
    held = [row.id for row in await in_db(leases.leased)]
    assert held.index(talk.session.id) < held.index(grandchild.id)


async def test_what_is_spent_elsewhere_in_a_conversation(tmp_path: Path) -> None:
    talk, stranger = await Talk.begin(tmp_path / "p"), await Talk.begin(tmp_path / "q")
    child = await below(talk, talk.session)
    for session, cost in ((talk.session, 1.0), (child, 0.5), (stranger.session, 4.0)):
        await in_db(usage.spent, session.id, Tokens(output=10, reasoning=3), cost)
    assert await in_db(children.spent_elsewhere, child) == children.Spent(1.0, 10)
    assert await in_db(children.spent_elsewhere, talk.session) == children.Spent(0.5, 10)
    grandchild = await below(talk, child)
    assert await in_db(children.spent_elsewhere, grandchild) == children.Spent(1.5, 20)


async def test_what_a_cut_off_errand_did_not_begin_is_withdrawn(tmp_path: Path) -> None:
    talk, stranger = await Talk.begin(tmp_path / "p"), await Talk.begin(tmp_path / "q")
    child = await below(talk, talk.session)
    text = [{"type": "text", "text": "Go."}]
    sent = await in_db(inbox.admit, child, text, message_id=ascending("msg"))
    own = await in_db(inbox.admit, child, text, message_id=ascending("msg"))
    kept = await in_db(inbox.admit, stranger.session, text, message_id=ascending("msg"))
    part = await errand(talk, child, promptId=sent.id)
    await errand(talk, stranger.session, promptId=kept.id)
    await in_db(recovery.settle, talk.session.id, recovery.CRASHED)
    assert [row.id for row in await in_db(inbox.waiting, child.id)] == [own.id]
    assert [row.id for row in await in_db(inbox.waiting, stranger.session.id)] == [kept.id]
    state = (await talk_part(talk, part))["state"]
    assert state["status"] == "error"
    assert child.id in state["error"]


async def talk_part(talk: Talk, part: ToolPart) -> dict[str, Any]:
    from_rows = await in_db(lambda: talk.session.parts.get(id=part.id).data)
    return dict(from_rows)


async def test_a_change_belongs_to_the_topmost_call_it_was_made_for(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    child = await below(talk, talk.session)
    grandchild = await below(talk, child)
    outer = await errand(talk, child)
    inner = await errand(Talk(talk.project, child), grandchild)

    async def change(session: Session) -> FileChange:
        row = FileChange(path="a", after="1", message_id=ascending("msg"))
        await in_db(ledger.add, session, [row])
        return row

    for session in (child, grandchild):
        made = await change(session)
        assert (made.for_session_id, made.for_part_id) == (talk.session.id, outer.id)
    assert (await change(talk.session)).for_session_id is None
    assert await in_db(ledger.by_tools(talk.session.id).count) == 3
    await in_db(recovery.settle, talk.session.id, recovery.STOPPED)
    assert (await change(child)).for_session_id is None
    assert (await change(grandchild)).for_part_id == inner.id
