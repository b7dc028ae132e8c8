"""Going back through prompts: those of the session, then those of other conversations of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.store import prompts, shells
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]


async def back(talk: Talk, session_id: str | None = None) -> list[str]:
    """All prompts from the last one on, as ids."""
    found: list[str] = []
    where = talk.session.id if session_id is None else session_id
    while entry := await in_db(prompts.before, talk.project.id, where, found[-1] if found else ""):
        found.append(entry["info"]["id"])
    return found


async def test_those_of_the_session_come_before_newer_ones_of_others(tmp_path: Path) -> None:
    here, there = await Talk.begin(tmp_path / "project"), await Talk.begin(tmp_path / "project")
    other = await Talk.begin(tmp_path / "other")
    await other.prompt("of another project")
    own = [await here.prompt("one"), await here.prompt("two")]
    elsewhere = [await there.prompt("three"), await there.prompt("four")]
    await here.answer(own[0])
    assert await back(here) == [own[1], own[0], elsewhere[1], elsewhere[0]]
    assert await back(there) == [elsewhere[1], elsewhere[0], own[1], own[0]]
    assert await back(here, "") == [elsewhere[1], elsewhere[0], own[1], own[0]]


async def test_what_no_person_wrote_is_passed_over(tmp_path: Path) -> None:
    here, there = await Talk.begin(tmp_path / "project"), await Talk.begin(tmp_path / "project")
    line = await there.prompt("")
    await there.part(line, **shells.part_of("ls"))
    continued = await there.prompt("")
    await there.part(continued, "text", text="Go on.", synthetic=True)
    assert await back(here) == [line]

    child = await in_db(session_store.create, here.project, here.session.directory, parent=here.session.id)
    await Talk(here.project, child).prompt("to a subagent")
    assert await back(here) == [line]
    await in_db(session_store.delete, there.session.id)
    assert await back(here) == []
