"""The problems panel and the count as a page pulls them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.store import added_folders, problems, projects
from sessions.core.store.problems import Finding, Problem
from sessions.web.problems.current import current
from sessions.web.problems.panel import MOST_SHOWN
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

CONTENT = b"import os\nprint(missing)\n"


@pytest.fixture
async def talk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"lsp": True}))
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project" / "a.py").write_bytes(CONTENT)
    return talk


def root(talk: Talk) -> Path:
    return Path(talk.project.worktree)


def problem(line: int, message: str, severity: int = 1) -> Problem:
    return Problem(line, 4, line, 6, severity, message, "F821", "Ruff")


async def known(talk: Talk, path: str, content: bytes, *found: Problem, server: str = "ruff") -> None:
    finding = Finding(talk.project.id, path, object_id(content), server, found)
    await in_db(problems.put, [finding])


async def page_of(client: AsyncClient, talk: Talk, part: str = "", **query: str) -> str:
    answer = await client.get(f"/pickers/problems{part}", {"session": talk.session.id, **query})
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_the_count_is_of_what_files_hold_now(talk: Talk, async_client: AsyncClient) -> None:
    page = await page_of(async_client, talk, "/count")
    assert page.startswith("<button")
    assert page.partition(">")[0].endswith(" hidden")
    await known(
        talk, "a.py", CONTENT, problem(1, "Undefined"), problem(0, "Unused", 2), problem(0, "Hint", 4)
    )
    await known(talk, "gone.py", b"", problem(0, "of a file that is gone"))
    page = await page_of(async_client, talk, "/count")
    assert 'aria-label="Problems: 1 error, 1 warning"' in page
    assert not page.partition(">")[0].endswith(" hidden")
    (root(talk) / "a.py").write_bytes(b"print(1)\n")
    assert "Problems: none" in await page_of(async_client, talk, "/count")
    (root(talk) / "a.py").write_bytes(CONTENT)
    assert "1 error" in await page_of(async_client, talk, "/count")


async def test_servers_that_are_off_say_nothing(
    talk: Talk, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await known(talk, "a.py", CONTENT, problem(1, "Undefined"))
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"lsp": {"ruff": {"disabled": True}}}))
    assert "Problems: none" in await page_of(async_client, talk, "/count")
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"lsp": False}))
    assert "Problems: none" in await page_of(async_client, talk, "/count")
    page = await page_of(async_client, talk)
    assert "Language servers are off" in page
    assert "Undefined" not in page


async def test_the_panel_lists_files_with_errors_first_and_texts_are_text(
    talk: Talk, async_client: AsyncClient
) -> None:
    assert "No problems are known" in await page_of(async_client, talk)
    hostile = "<script>\x1b[31m</script>\u202e and\n\nmore \"'&"
    name = "<b>\u202e\n.py"
    (root(talk) / name).write_bytes(CONTENT)
    await known(talk, name, CONTENT, problem(0, hostile))
    await known(talk, "a.py", CONTENT, problem(0, "Unused", 2))
    page = await page_of(async_client, talk)
    assert "<script>" not in page
    assert "<b>" not in page
    assert not re.search("[\x1b\u202e]", re.sub('data-key="[^"]*"', "", page)), "a key is never shown"
    assert page.index("&lt;script&gt;") < page.index("Unused")
    assert "1 error, 1 warning in 2 files" in page
    (fix,) = re.findall(r'data-fix="([^"]*Unused[^"]*)"', page)
    assert fix == "a.py:1:5: warning: Unused (Ruff F821)"


async def test_more_than_a_browser_takes_is_left_out_and_said(talk: Talk, async_client: AsyncClient) -> None:
    many = [problem(line, f"number {line}") for line in range(problems.MOST)]
    files = MOST_SHOWN // problems.MOST + 1
    for number in range(files):
        (root(talk) / f"{number}.py").write_bytes(CONTENT)
        await known(talk, f"{number}.py", CONTENT, *many)
    page = await page_of(async_client, talk)
    assert page.count("data-problem ") == (files - 1) * problems.MOST
    assert f"{problems.MOST} more are not shown" in page
    assert page.count("the worst 200 are kept") == files - 1


async def test_lines_around_a_problem(talk: Talk, async_client: AsyncClient) -> None:
    page = await page_of(async_client, talk, "/lines", path="a.py", line="2")
    assert '<li value="2" aria-current=true>print(missing)</li>' in page
    assert '<li value="1">import os</li>' in page
    assert "no line 9 any more" in await page_of(async_client, talk, "/lines", path="a.py", line="9")
    (root(talk) / "hostile.py").write_bytes(b"<script>\x1b\xff\n")
    page = await page_of(async_client, talk, "/lines", path="hostile.py", line="1")
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("../outside.py", "1"),
        ("/etc/hostname", "1"),
        ("", "1"),
        ("none.py", "1"),
        ("a.py", "x"),
        ("link", "1"),
    ],
)
async def test_nothing_outside_of_the_project_is_shown(
    talk: Talk, async_client: AsyncClient, path: str, line: str
) -> None:
    (root(talk).parent / "outside.py").write_text("secret\n")
    (root(talk) / "link").symlink_to(root(talk).parent / "outside.py")
    answer = await async_client.get(
        "/pickers/problems/lines", {"session": talk.session.id, "path": path, "line": line}
    )
    assert answer.status_code == 404 or b"secret" not in answer.content
    assert b"secret" not in answer.content


async def test_only_known_sessions_and_only_by_post(talk: Talk, async_client: AsyncClient) -> None:
    assert (await async_client.get("/pickers/problems", {"session": "ses_none"})).status_code == 404
    assert (
        await async_client.get("/pickers/problems/check", {"session": talk.session.id})
    ).status_code == 405
    assert (await async_client.post("/pickers/problems", {"session": talk.session.id})).status_code == 405


async def test_a_file_that_somebody_writes_to_in_place_is_read_again(talk: Talk) -> None:
    """Of the same size, within the same second."""
    await known(talk, "a.py", CONTENT, problem(1, "Undefined"))
    assert len(await current(talk.project, {"ruff"})) == 1
    (root(talk) / "a.py").write_bytes(CONTENT.replace(b"missing", b"present"))
    assert await current(talk.project, {"ruff"}) == []


async def test_folders_beside_the_project_that_may_be_written_are_among_them(
    talk: Talk, async_client: AsyncClient, tmp_path: Path
) -> None:
    library = tmp_path.resolve() / "library"
    library.mkdir()
    (library / "a.py").write_bytes(CONTENT)
    project = await in_db(projects.open_project, library)
    finding = Finding(project.id, "a.py", object_id(CONTENT), "ruff", (problem(1, "Beside"),))
    await in_db(problems.put, [finding])
    await in_db(lambda: added_folders.add(talk.session, library))
    assert "Problems: none" in await page_of(async_client, talk, "/count")

    await in_db(lambda: added_folders.add(talk.session, library, write=True))
    await known(talk, "a.py", CONTENT, problem(1, "Undefined"))
    assert "Problems: 2 errors" in await page_of(async_client, talk, "/count")
    page = await page_of(async_client, talk)
    assert re.findall(r'data-key="([^"]*)"', page) == [f"{library}/a.py", "a.py"]
    assert f"{library}/a.py:2:5: error: Beside" in page
    assert "missing" in await page_of(async_client, talk, "/lines", path=f"{library}/a.py", line="2")
