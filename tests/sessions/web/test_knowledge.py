"""Notes, todos and actions of a project: written, pinned, run; and what runs in a new worktree."""

from __future__ import annotations

import html
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from django.test import AsyncClient
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import events, knowledge, pins, projects
from sessions.core.store.knowledge import Kind, Refused
from sessions.terminals.registry import terminals
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    settings.MIDDLEWARE = []


@pytest_asyncio.fixture(autouse=True)
async def no_terminals() -> AsyncIterator[None]:
    yield
    await terminals.close()


async def begun(tmp_path: Path) -> tuple[Talk, Project, str]:
    talk = await Talk.begin(tmp_path / "project")
    project = talk.session.project
    return talk, project, f"/p/{project.id}/knowledge"


async def posted(client: AsyncClient, url: str, **data: str) -> str:
    answer = await client.post(url, data)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


async def test_a_note_is_written_changed_and_removed(async_client: AsyncClient, tmp_path: Path) -> None:
    _, project, url = await begun(tmp_path)
    page = await posted(async_client, f"{url}/note", kind="plan", title=" How <we> ", text="**All**\r\nof it")
    assert "How &lt;we&gt;" in page
    assert "<strong>All</strong>" in page
    (row,) = await in_db(knowledge.notes, project)
    assert (row.kind, row.title, row.text) == ("plan", "How <we>", "**All**\nof it")
    page = await posted(async_client, f"{url}/note", note=row.id, kind="note", title="Other", text="<b>x</b>")
    assert "<b>x</b>" not in page
    page = await posted(async_client, f"{url}/remove", note=row.id)
    assert "Other" not in page.partition("#toasts")[0]
    refused = await async_client.post(f"{url}/note", {"kind": "note", "title": " "})
    assert refused.status_code == 422
    assert refused["HX-Retarget"] == "#knowledge-problem"


async def test_a_todo_is_ticked(async_client: AsyncClient, tmp_path: Path) -> None:
    _, project, url = await begun(tmp_path)
    await posted(async_client, f"{url}/note", kind="todo", title="Do it", text="left out")
    (row,) = await in_db(knowledge.notes, project)
    assert row.text == ""
    assert "checked" in await posted(async_client, f"{url}/tick", note=row.id, done="1")
    assert "checked" not in await posted(async_client, f"{url}/tick", note=row.id)


async def test_a_note_that_is_pinned_goes_with_its_words(async_client: AsyncClient, tmp_path: Path) -> None:
    talk, project, url = await begun(tmp_path)
    row = await in_db(knowledge.write, project, Kind.NOTE, "Ports", "Use 8080.")
    about = {"note": row.id, "session": talk.session.id}
    assert "Pinned" in await posted(async_client, f"{url}/pin", **about)
    (pin,) = await in_db(pins.listing, talk.session.id)
    assert (pin.kind, pin.title, pin.text) == ("note", "Ports", "Ports\n\nUse 8080.")
    assert pin.tokens == 4
    await posted(async_client, f"{url}/pin", **about)
    assert len(await in_db(pins.listing, talk.session.id)) == 1
    seen = await in_db(events.latest)
    await posted(async_client, f"{url}/note", note=row.id, kind="note", title="Ports", text="Use 9090.")
    (renewed,) = await in_db(pins.listing, talk.session.id)
    assert renewed.id != pin.id, "the model is told of one that comes, and of one that goes"
    assert renewed.text.endswith("9090.")
    assert await in_db(events.latest) > seen
    await posted(async_client, f"{url}/pin", **about, off="1")
    assert await in_db(pins.listing, talk.session.id) == []
    await posted(async_client, f"{url}/pin", **about)
    await posted(async_client, f"{url}/remove", note=row.id)
    assert await in_db(pins.listing, talk.session.id) == []


async def test_a_note_too_large_for_the_window_is_refused(async_client: AsyncClient, tmp_path: Path) -> None:
    talk, project, url = await begun(tmp_path)
    for number in range(4):
        row = await in_db(knowledge.write, project, Kind.NOTE, f"Long {number}", "x" * 20_000)
        answer = await async_client.post(f"{url}/pin", {"note": row.id, "session": talk.session.id})
    assert answer.status_code == 422
    assert "too large to be pinned" in answer.content.decode()


async def test_an_action_runs_in_a_terminal_of_the_folder(async_client: AsyncClient, tmp_path: Path) -> None:
    talk, project, url = await begun(tmp_path)
    page = await posted(async_client, f"{url}/action", name="hold", command="echo begun; read held")
    assert "hold" in page
    (action,) = await in_db(knowledge.actions, project)
    about = {"action": action.id, "session": talk.session.id}
    told = json.loads((await async_client.post(f"{url}/run", about))["HX-Trigger"])
    (terminal,) = terminals.of(Path(talk.session.directory))
    assert told == {"terminal:show": {"id": terminal.id}}
    assert (terminal.title, terminal.arguments[-1]) == ("hold", "echo begun; read held")
    again = json.loads((await async_client.post(f"{url}/run", about))["HX-Trigger"])
    assert again == told, "it runs already"
    await terminal.write(b"go\n")
    await terminal.finished.wait()
    assert "begun" in terminal.backlog.read(0, 1000)[0]
    other = json.loads((await async_client.post(f"{url}/run", about))["HX-Trigger"])
    assert other != told
    await posted(async_client, f"{url}/action/remove", action=action.id)
    gone = await async_client.post(f"{url}/run", about)
    assert gone["HX-Retarget"] == "#toasts"
    assert "not there any more" in gone.content.decode()


async def test_what_the_files_name_is_proposed_once(async_client: AsyncClient, tmp_path: Path) -> None:
    _, project, url = await begun(tmp_path)
    (Path(project.worktree) / "Makefile").write_text("test:\n\ttrue\nlint:\n\ttrue\n")
    page = (await async_client.get(url)).content.decode()
    assert "Add test of Makefile" in page
    assert (await in_db(knowledge.actions, project)) == []
    page = await posted(async_client, f"{url}/action", name="test", command="make test")
    assert "Add test of Makefile" not in page
    assert "Add lint of Makefile" in page
    twice = await async_client.post(f"{url}/action", {"name": "test", "command": "true"})
    assert twice.status_code == 422


async def test_of_another_project_nothing_is_touched(async_client: AsyncClient, tmp_path: Path) -> None:
    talk, project, _ = await begun(tmp_path)
    other = await in_db(projects.open_project, _folder(tmp_path / "other"))
    row = await in_db(knowledge.write, other, Kind.TODO, "Theirs")
    url = f"/p/{project.id}/knowledge"
    await posted(async_client, f"{url}/tick", note=row.id, done="1")
    await posted(async_client, f"{url}/remove", note=row.id)
    (kept,) = await in_db(knowledge.notes, other)
    assert not kept.done
    with pytest.raises(Refused):
        await in_db(knowledge.write, project, Kind.TODO, "Mine", note_id=row.id)
    elsewhere = await async_client.get(f"/p/{other.id}/knowledge?session={talk.session.id}")
    assert elsewhere.status_code == 404


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


async def test_what_is_removed_comes_back(async_client: AsyncClient, tmp_path: Path) -> None:
    talk, project, url = await begun(tmp_path)
    note = await in_db(knowledge.write, project, Kind.PLAN, "Ports", "Use 8080.\nNot 80.")
    todo = await in_db(knowledge.write, project, Kind.TODO, "Mend <it>")
    await in_db(knowledge.tick, project, todo.id, True)
    action = await in_db(knowledge.save_action, project, "greet", "echo a\necho b")
    await posted(async_client, f"{url}/pin", note=note.id, session=talk.session.id)
    removed = ("", {"note": note.id}), ("", {"note": todo.id}), ("/action", {"action": action.id})
    for kind, data in removed:
        page = await posted(async_client, f"{url}{kind}/remove", **data)
        assert "Removed " in page
        back = re.search(r'hx-post="([^"]+/restore)" hx-vals="([^"]+)"', page)
        assert back is not None
        answer = await async_client.post(back[1], json.loads(html.unescape(back[2])))
        assert answer.status_code == 200
        assert answer["HX-Trigger"] == "knowledge:changed"
        assert not answer.content
    plan, done = await in_db(knowledge.notes, project)
    assert (plan.kind, plan.title, plan.text) == ("plan", "Ports", "Use 8080.\nNot 80.")
    assert (done.kind, done.title, done.done) == ("todo", "Mend <it>", True)
    (pin,) = await in_db(pins.listing, talk.session.id)
    assert (pin.title, pin.text) == ("Ports", "Ports\n\nUse 8080.\nNot 80.")
    (again,) = await in_db(knowledge.actions, project)
    assert (again.name, again.command) == ("greet", "echo a\necho b")
    refused = await async_client.post(f"{url}/action/restore", {"name": "greet", "command": "x"})
    assert refused.status_code == 422
