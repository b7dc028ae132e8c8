"""The overview: where sessions stand, what is said of them, the filter, saved views, and chats."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Project, Session
from sessions.core.repository import branch_of, make_repository
from sessions.core.store import labels, overview, todos
from sessions.core.store import sessions as session_store
from sessions.core.store.overview import Wanted
from sessions.core.wire.messages import ABORTED, SERVER_ENDED, STOPPED_BY_USER
from sessions.core.wire.session import Status, TodoInfo
from tests.sessions.changes.review.world import World
from tests.sessions.talk import Talk
from tests.sessions.web.approvals.asking import ask

pytestmark = pytest.mark.django_db(transaction=True)
BUSY, IDLE = Status(type="busy"), Status(type="idle")
FAILED = {"name": "APIError", "data": {"message": "no answer"}}


async def made(talk: Talk, title: str, **more: Any) -> Session:
    return await in_db(session_store.create, talk.project, talk.session.directory, title=title, **more)


async def columns(client: AsyncClient, **query: str) -> dict[str, list[str]]:
    """The titles in each column of the board."""
    page = (await client.get("/overview", query)).content.decode()
    found = {}
    for part in page.split("<section")[1:]:
        [key] = re.findall(r'class="overview-column" data-column="(\w+)"', part)
        found[key] = re.findall(r'<span\s+dir="auto">([^<]*)</span></a>', part)
    return found


async def test_sessions_stand_where_they_are_in_their_work(world: World, async_client: AsyncClient) -> None:
    talk = Talk(world.project, await world.session("asks"))
    await ask(talk.session)
    for title, status, error in (
        ("runs", BUSY, None),
        ("failed", IDLE, FAILED),
        ("cut off", IDLE, {"name": ABORTED, "data": {"message": SERVER_ENDED}}),
        ("stopped", IDLE, {"name": ABORTED, "data": {"message": STOPPED_BY_USER}}),
        ("done", IDLE, None),
        ("idle", IDLE, None),
    ):
        row = await made(talk, title)
        await in_db(session_store.set_status, row.id, BUSY)
        await in_db(session_store.set_status, row.id, status, error=error)
        if title != "done" and title != "runs":
            await in_db(session_store.read, row.id)
    found = await columns(async_client)
    assert found["waiting"] == ["asks"]
    assert found["running"] == ["runs"]
    assert found["done"] == ["done"]
    assert sorted(found["failed"]) == ["cut off", "failed"]
    assert sorted(found["idle"]) == ["idle", "stopped"]
    assert (await columns(async_client, column="failed")).keys() == {"failed"}


async def test_a_row_says_what_is_done_and_what_was(async_client: AsyncClient, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    make_repository(folder)
    talk = await Talk.begin(folder, "<b>parent")
    await in_db(session_store.set_status, talk.session.id, BUSY)
    answer = await talk.answer(await talk.prompt())
    state = {"status": "running", "input": {"command": "make test"}, "time": {"start": 1}}
    await talk.part(answer, "tool", callID="call", tool="bash", state=state)
    listed = [TodoInfo(content=text, status=text, priority="high") for text in ("completed", "pending")]
    await in_db(todos.replace, talk.session, listed)
    child = await made(talk, "the child", parent=talk.session.id)
    await in_db(session_store.set_status, child.id, BUSY)
    await in_db(lambda: Session.objects.filter(id=child.id).update(cost=0.5))
    await in_db(lambda: Session.objects.filter(id=talk.session.id).update(cost=0.25, model_id="maker/large"))
    await in_db(labels.make, "urgent", "red")
    await in_db(labels.choose, [talk.session.id], give=["urgent"])
    page = (await async_client.get("/overview")).content.decode()
    assert "&lt;b&gt;parent" in page
    for words in ("make test", "1/2", "$0.75", "the child", "urgent", ">large<", branch_of(folder)):
        assert words in page, words
    assert page.count("overview-row") == 1


async def test_the_filter_takes_words_project_label_and_the_archive(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    one, two = await Talk.begin(tmp_path / "one", "red fox"), await Talk.begin(tmp_path / "two", "red hen")
    await in_db(labels.make, "bird", "red")
    await in_db(labels.choose, [two.session.id], give=["bird"])
    old = await made(one, "old fox")
    await in_db(session_store.archive, old.id)
    assert sorted((await columns(async_client))["idle"]) == ["red fox", "red hen"]
    assert (await columns(async_client, q="RED fo"))["idle"] == ["red fox"]
    assert (await columns(async_client, project=two.project.id))["idle"] == ["red hen"]
    assert (await columns(async_client, label="bird"))["idle"] == ["red hen"]
    assert sorted((await columns(async_client, q="fox", archived="1"))["idle"]) == ["old fox", "red fox"]
    answer = await async_client.get("/overview", {"q": "fox", "column": "none"})
    assert answer["HX-Replace-Url"] == "/?choose&q=fox"


async def test_statements_do_not_grow_with_the_sessions(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")

    def many(count: int, busy: int) -> None:
        rows = [
            Session(
                id=ascending("ses"),
                project=talk.project,
                directory=talk.session.directory,
                title=f"number {number}",
                status={"type": "busy" if number < busy else "idle"},
                time_created=number,
                time_updated=number,
                used=number,
            )
            for number in range(count)
        ]
        Session.objects.bulk_create(rows)

    def counted() -> tuple[int, overview.Found]:
        with CaptureQueriesContext(connection) as queries:
            found = overview.found(Wanted())
        return len(queries), found

    await in_db(many, 3, 1)
    few, _ = await in_db(counted)
    await in_db(many, 500, 30)
    number, found = await in_db(counted)
    assert number == few <= 14
    assert len(found.lines) == 31 + overview.PAGE
    seen = {line.session.id for line in found.lines}
    while found.older:
        found = await in_db(partial(overview.found, Wanted(), before=found.older))
        assert not seen & {line.session.id for line in found.lines}
        seen |= {line.session.id for line in found.lines}
    assert len(seen) == 504


async def test_a_view_is_kept_said_in_words_and_forgotten(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "zoo")
    given = {"q": "<fox>", "project": talk.project.id, "column": "failed"}
    assert "Save this view" in (await async_client.get("/overview/views", given)).content.decode()
    kept = (await async_client.post("/overview/views/save", given)).content.decode()
    assert "Failed · zoo · &lt;fox&gt;" in kept
    assert "Save this view" not in kept
    assert "Failed · zoo" in (await async_client.get("/?choose")).content.decode()
    query = f"q=%3Cfox%3E&project={talk.project.id}&column=failed"
    gone = (await async_client.post("/overview/views/save", {"forget": query})).content.decode()
    assert "zoo" not in gone


async def test_a_chat_has_an_empty_folder_of_its_own(
    async_client: AsyncClient, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    first = (await async_client.post("/chats/new"))["HX-Redirect"]
    assert (await async_client.post("/chats/new"))["HX-Redirect"] == first
    project = await Project.objects.aget(id=first.split("/")[2])
    folder = Path(project.worktree)
    assert folder.parent == tmp_path / "data-chats"
    assert list(folder.iterdir()) == []
    await in_db(session_store.create, project, str(folder), title="a chat")
    assert (await async_client.post("/chats/new"))["HX-Redirect"] != first
    page = (await async_client.get("/?choose")).content.decode()
    assert "a chat" in page
    assert f'href="{project.get_absolute_url()}"' not in page


async def test_several_are_stopped(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await async_client.post(f"/p/{talk.project.id}/sessions/stop", {"session": [talk.session.id]})
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    ("head", "branch"),
    [("ref: refs/heads/fix/one\n", "fix/one"), ("0" * 40, ""), ("", "")],
)
def test_the_branch_is_read_without_git(tmp_path: Path, head: str, branch: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    below = tmp_path / "below"
    below.mkdir()
    assert branch_of(below) == branch
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {tmp_path / '.git'}\n")
    assert branch_of(linked) == branch
    assert branch_of(tmp_path / "none") == ""
