"""Opening in a program of this machine: only where the page is open on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.store import programs
from tests.sessions.project.test_programs import install
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

HERE = {"host": "127.0.0.1:4096"}


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a screen and one editor."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return install({"PATH": str(folder)}, "code")


async def test_it_is_asked_and_then_opened(async_client: AsyncClient, tmp_path: Path, pipe: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project" / "a.py").write_text("")
    where = {"session": talk.session.id, "path": "a.py", "line": "3"}
    html = (await async_client.get("/open-in", where, headers=HERE)).content.decode()
    assert 'data-program="code"' in html
    assert "outside of the sandbox" in html
    answer = await async_client.post("/open-in", where | {"program": "code"}, headers=HERE)
    assert "Opened a.py in Visual Studio Code." in answer.content.decode()
    assert pipe.read_text().split("|")[2:4] == ["--goto", f"{tmp_path}/project/a.py:3"]


@pytest.mark.parametrize(
    ("values", "headers", "words"),
    [
        ({"path": "a.py"}, {"host": "testserver"}, "only for a page that is open on the machine"),
        ({"path": "../out"}, HERE, "outside of the project"),
        ({"path": "", "program": "none"}, HERE, "not there any more"),
    ],
)
async def test_what_is_refused_says_why(
    async_client: AsyncClient, tmp_path: Path, values: dict[str, str], headers: dict[str, str], words: str
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await async_client.post("/open-in", {"session": talk.session.id} | values, headers=headers)
    assert words in answer.content.decode()
    assert answer["HX-Retarget"] == "#toasts"


async def test_own_programs_are_kept(async_client: AsyncClient, pipe: Path) -> None:
    url = "/settings/programs"
    bad = await async_client.post(url, {"name": "Mine", "command": "'"}, headers=HERE)
    assert bad.status_code == 422
    html = (
        await async_client.post(url, {"name": "Mine", "command": "code -n {path}"}, headers=HERE)
    ).content.decode()
    assert "code -n {path}" in html
    assert "Visual Studio Code" in html
    assert [row.name for row in await in_db(programs.listing)] == ["Mine"]
    await async_client.post(f"{url}/remove", {"name": "Mine"}, headers=HERE)
    assert await in_db(programs.listing) == []
