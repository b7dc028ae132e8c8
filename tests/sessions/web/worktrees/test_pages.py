"""Removing a worktree from the list of projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.changes.worktrees import forking
from sessions.changes.worktrees.removal import losses
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import projects
from tests.sessions.changes.review.world import World


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    settings.MIDDLEWARE = []


async def test_the_list_names_worktrees_and_forgets_removed_ones(
    async_client: AsyncClient, world: World
) -> None:
    fork = (await forking.fork_with_files(await world.session("Fork"), "")).session
    url = f"/worktrees/{fork.project_id}/remove"
    listed = (await async_client.get("/?choose")).content.decode()
    assert url in listed
    assert "Worktree of project" in listed
    dialog = (await async_client.get(url)).content.decode()
    seen = losses(Path(fork.directory)).key
    assert seen in dialog
    assert "new.txt" in dialog
    await in_db(Session.objects.filter(id=fork.id).update, lease_owner="worker")
    refused = await async_client.post(url, {"seen": seen})
    assert (refused.status_code, "Stop it first" in refused.content.decode()) == (422, True)
    await in_db(Session.objects.filter(id=fork.id).update, lease_owner="")
    assert (await async_client.post(url, {"seen": ""})).status_code == 422
    assert Path(fork.directory).exists()
    assert (await async_client.post(url, {"seen": seen}))["HX-Redirect"] == "/?choose"
    assert not Path(fork.directory).exists()
    assert url not in (await async_client.get("/?choose")).content.decode()
    assert (await async_client.get(f"/p/{fork.project_id}/s/{fork.id}")).status_code == 200


async def test_what_is_no_worktree_of_ours_is_not_found(async_client: AsyncClient, world: World) -> None:
    for project in (world.project.id, "unknown"):
        url = f"/worktrees/{project}/remove"
        assert (await async_client.get(url)).status_code == 404
        assert (await async_client.post(url, {"seen": "x"})).status_code == 404


async def test_a_worktree_is_not_taken_for_a_repository_that_moved(world: World) -> None:
    fork = (await forking.fork_with_files(await world.session(), "")).session
    gone = Path(fork.directory)
    await in_db(projects.open_project, gone)
    gone.rename(gone.with_name("elsewhere"))
    clone = world.root.parent / "clone"
    world.root.rename(clone)
    moved = await in_db(projects.open_project, clone)
    assert moved.id == world.project.id


async def test_a_repository_is_not_taken_for_moved_into_its_own_worktree(world: World) -> None:
    folder = Path((await forking.fork_with_files(await world.session(), "")).session.directory)
    linked = folder.with_name("linked")
    folder.rename(linked)
    await in_db(lambda: type(world.project).objects.filter(id=world.project.id).update(worktree="/gone"))
    assert (await in_db(projects.open_project, linked)).id != world.project.id
