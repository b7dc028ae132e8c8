"""Opening a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import sessions

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "Give the path"),
        ("{tmp}/missing", "no such folder"),
        ("{tmp}/file.txt", "This is a file"),
        ("/", "whole file system"),
        ("/../.", "whole file system"),
        ("relative/path", "whole path"),
        ("a\0b", "null character"),
        ("/" + "x" * 5000, "cannot be read"),
        ("~nobody-of-this-name/x", "whole path"),
    ],
)
async def test_what_is_no_project_is_refused_beside_the_field(
    async_client: AsyncClient, tmp_path: Path, path: str, why: str
) -> None:
    (tmp_path / "file.txt").write_text("x")
    response = await async_client.post("/projects/open", {"path": path.format(tmp=tmp_path)})
    assert response.status_code == 422
    assert why in response.content.decode()


async def test_a_folder_opens_and_is_recent(async_client: AsyncClient, tmp_path: Path) -> None:
    response = await async_client.post("/projects/open", {"path": f" {tmp_path} "})
    url = response["HX-Redirect"]
    assert url in (await async_client.get("/?choose")).content.decode()
    assert (await async_client.get(url))["Location"] == f"{url}s/"


async def test_the_sessions_of_a_project_are_a_click_away(async_client: AsyncClient, tmp_path: Path) -> None:
    url = (await async_client.post("/projects/open", {"path": str(tmp_path)}))["HX-Redirect"]
    project = await Project.objects.aget(id=url.split("/")[2])
    row = await in_db(sessions.create, project, str(tmp_path), title="A session")
    text = (await async_client.get("/?choose")).content.decode()
    assert f"{url}s/{row.id}" in text
    assert "Open a project</h2>" in text


async def test_the_directory_of_the_start_opens_at_once(
    async_client: AsyncClient, tmp_path: Path, settings: Settings
) -> None:
    settings.OPENED_DIRECTORY = str(tmp_path)
    assert (await async_client.get("/"))["Location"].startswith("/p/")
    settings.OPENED_DIRECTORY = str(tmp_path / "gone")
    assert "no such folder" in (await async_client.get("/")).content.decode()
