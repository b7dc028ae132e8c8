"""`/import`: what is shown while an import runs, and how it is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.transfer.job import Job, Progress
from tests.sessions.transfer import making

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "<script>pwned()</script>"


@pytest.fixture(autouse=True)
def alone(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MIDDLEWARE = []
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME")


async def test_a_running_one_is_followed_and_can_be_stopped(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    path = making.export(tmp_path / "x.json", making.session("/home/me/flows"), [])
    with Job().alone():
        Job().write(Progress(total=9, done=3, current=HOSTILE))
        for url in ("/import", "/import/progress"):
            page = (await async_client.get(url)).content.decode()
            assert 'hx-trigger="every 800ms"' in page
            assert "3 of 9 sessions" in page
            assert HOSTILE not in page
        form = {"path": str(path), "project": "/home/me/flows"}
        second = await async_client.post("/import/begin", form)
        assert b"3 of 9 sessions" in second.content
        again = await async_client.post("/import/again")
        assert again.status_code == 200
        assert Job().progress() is not None
        stopping = await async_client.post("/import/cancel")
        assert b"Stopping" in stopping.content
        assert Job().cancelled()
    ended = (await async_client.get("/import/progress")).content.decode()
    assert "every 800ms" not in ended
    assert "Not finished" in ended


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"path": "x.json"}, "Choose at least one project"),
        ({"path": "x.json", "project": "/a"}, "Give the whole path"),
        ({"path": "/gone/x", "project": "/a"}, "No such file"),
        ({"path": "", "project": "/a"}, "There is no session"),
    ],
)
async def test_what_cannot_be_imported_is_said(
    async_client: AsyncClient, form: dict[str, str], reason: str
) -> None:
    answer = await async_client.post("/import/begin", form)
    assert answer.status_code == 422
    assert reason in answer.content.decode()


async def test_nothing_found_is_said(async_client: AsyncClient) -> None:
    assert b"No data of OpenCode was found" in (await async_client.get("/import/found")).content


async def test_a_data_folder_that_cannot_be_written_is_said(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    path = making.export(tmp_path / "x.json", making.session("/home/me/flows"), [])
    (tmp_path / "import.lock").mkdir()
    answer = await async_client.post("/import/begin", {"path": str(path), "project": "/home/me/flows"})
    assert (answer.status_code, b"cannot be written" in answer.content) == (422, True)
