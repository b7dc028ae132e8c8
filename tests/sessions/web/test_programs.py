"""Opening in a program of this machine: only where the page is open on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncRequestFactory

from sessions.core.db import in_db
from sessions.core.store import programs
from sessions.web import programs as pages
from tests.sessions.project.test_programs import install
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

HERE = "127.0.0.1:4096"


async def asked(
    method: str, values: dict[str, str], host: str = HERE, view: Callable[..., Any] = pages.open_in
) -> HttpResponse:
    """By a browser that reached the server by this name; the test client has one of its own."""
    request = getattr(AsyncRequestFactory(), method)("/", values)
    request.META["HTTP_HOST"] = host
    answer: HttpResponse = await view(request)
    return answer


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a screen and one editor."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return install({"PATH": str(folder)}, "code")


async def test_it_is_asked_and_then_opened(tmp_path: Path, pipe: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project" / "a.py").write_text("")
    where = {"session": talk.session.id, "path": "a.py", "line": "3"}
    html = (await asked("get", where)).content.decode()
    assert 'data-program="code"' in html
    assert "outside of the sandbox" in html
    answer = await asked("post", where | {"program": "code"})
    assert "Opened a.py in Visual Studio Code." in answer.content.decode()
    assert pipe.read_text().split("|")[2:4] == ["--goto", f"{tmp_path}/project/a.py:3"]


@pytest.mark.parametrize(
    ("values", "host", "words"),
    [
        ({"path": "a.py"}, "testserver", "only for a page that is open on the machine"),
        ({"path": "../out"}, HERE, "outside of the project"),
        ({"path": "", "program": "none"}, HERE, "not there any more"),
    ],
)
async def test_what_is_refused_says_why(
    tmp_path: Path, values: dict[str, str], host: str, words: str
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await asked("post", {"session": talk.session.id} | values, host)
    assert words in answer.content.decode()
    assert answer["HX-Retarget"] == "#toasts"


async def test_own_programs_are_kept(pipe: Path) -> None:
    assert (await asked("post", {"name": "Mine", "command": "'"}, view=pages.own)).status_code == 422
    added = await asked("post", {"name": "Mine", "command": "code -n {path}"}, view=pages.own)
    html = added.content.decode()
    assert "code -n {path}" in html
    assert "Visual Studio Code" in html
    assert [row.name for row in await in_db(programs.listing)] == ["Mine"]
    await asked("post", {"name": "Mine"}, view=pages.remove)
    assert await in_db(programs.listing) == []
