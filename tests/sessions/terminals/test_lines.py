"""What is run in a new worktree, and what worktrees have of their project."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import knowledge, projects
from sessions.core.store.knowledge import Kind
from sessions.core.wire.project import ProjectChange, ProjectCommands
from sessions.terminals.registry import terminals
from tests.sessions.changes.review.world import World
from tests.sessions.changes.worktrees.conftest import world

__all__ = ["world"]


@pytest_asyncio.fixture(autouse=True)
async def no_terminals() -> AsyncIterator[None]:
    yield
    await terminals.close()


async def forked(world: World, client: AsyncClient) -> Session:
    session = await world.session()
    answer = await client.post(f"{session.get_absolute_url()}/fork", {"with": "files"})
    assert answer.status_code == 200
    return await in_db(_newest)


def _newest() -> Session:
    row = Session.objects.select_related("project__worktree_of").order_by("id").first()
    assert row is not None
    return row


async def test_a_fork_with_files_begins_as_the_project_says(world: World, async_client: AsyncClient) -> None:
    url = f"/p/{world.project.id}/knowledge"
    page = (await async_client.post(f"{url}/start", {"command": "pwd > where\r\necho so >> where"})).content
    assert b"echo so" in page
    copy = await forked(world, async_client)
    (terminal,) = terminals.of(Path(copy.directory))
    await terminal.finished.wait()
    where = Path(copy.project.worktree) / "where"
    assert where.read_text() == f"{copy.project.worktree}\nso\n"
    assert terminal.title == "Start"
    assert not (world.root / "where").exists()
    original = await in_db(projects.get, world.project.id)
    assert original is not None
    assert original.commands == {"start": "pwd > where\necho so >> where"}, "as the protocol has it"


async def test_nothing_runs_where_nothing_is_said(world: World, async_client: AsyncClient) -> None:
    await in_db(projects.change, world.project, ProjectChange(commands=ProjectCommands(start=" ")))
    copy = await forked(world, async_client)
    assert terminals.of(Path(copy.directory)) == []


async def test_a_worktree_has_the_notes_of_its_project(world: World, async_client: AsyncClient) -> None:
    copy = await forked(world, async_client)
    await in_db(knowledge.write, world.project, Kind.NOTE, "Known here")
    url = f"/p/{copy.project_id}/knowledge"
    assert b"Known here" in (await async_client.get(f"{url}?session={copy.id}")).content
    await async_client.post(f"{url}/note", {"kind": "todo", "title": "From there"})
    assert [row.title for row in await in_db(knowledge.notes, world.project)] == ["Known here", "From there"]
