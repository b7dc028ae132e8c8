"""`@` and `/` in the composer."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient

from sessions.web.shortcuts import COMMANDS
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_files_are_found_by_name_whatever_it_is(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    root = tmp_path / "project"
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("ignored.py\n")
    for name in ("main.py", "ignored.py", 'we"ird\n<b>.py'):
        (root / name).write_text("x")
    html = (await async_client.get(f"{talk.url}/complete/files", {"q": "py"})).content.decode()
    assert 'data-insert="@main.py"' in html
    assert "ignored.py" not in html
    assert "&lt;b&gt;.py" in html
    assert "<b>" not in html


async def test_a_folder_that_is_gone_has_no_files(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project").rename(tmp_path / "gone")
    answer = await async_client.get(f"{talk.url}/complete/files", {"q": "py"})
    assert answer.status_code == 200
    assert "data-insert" not in answer.content.decode()


async def test_commands_are_those_that_work(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    html = (await async_client.get(f"{talk.url}/complete/commands", {"q": "un"})).content.decode()
    assert 'data-command="undo"' in html
    assert 'data-command="new"' not in html
    all_of_them = (await async_client.get(f"{talk.url}/complete/commands")).content.decode()
    for name in (command.name for command in COMMANDS):
        assert f'data-command="{name}"' in all_of_them
