"""The inbox of all projects and sessions, and its socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.test import AsyncClient

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import QuestionRequest, Session
from sessions.core.store import permissions, questions
from sessions.core.store import sessions as session_store
from sessions.core.wire.questions import QuestionInfo
from sessions.core.wire.session import Status
from sessions.web.approvals.inbox import inbox, websocket_urlpatterns
from tests.sessions.changes.review.world import World
from tests.sessions.web.approvals.asking import ask


async def below(world: World, parent: Session, title: str) -> Session:
    return await in_db(session_store.create, world.project, str(world.root), title=title, parent=parent.id)


async def question(session: Session) -> QuestionRequest:
    options = [{"label": "Red", "description": ""}]
    asked = [QuestionInfo.model_validate({"question": "Which <i>?", "header": "Colour", "options": options})]
    return await in_db(questions.ask, session, asked, message_id="", call_id="c", tool="question")


ME = {"kind": "cookie"}


class Tab:
    """One page's connection to the inbox."""

    def __init__(self, principal: object = ME) -> None:
        self.socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), "/ws/inbox/")
        scope: dict[str, object] = self.socket.scope  # type: ignore[assignment]
        scope["principal"] = principal

    async def ruled(self, *names: str) -> dict[str, Any]:
        """What is told until a change of rules, and these beside it, are among it, in whatever order."""
        told: dict[str, Any] = {}
        while not {"rules", *names} <= told.keys():
            told |= json.loads(await self.socket.receive_from(timeout=5))
        return told

    async def waiting(self, count: int) -> dict[str, Any]:
        """The message that says that so many wait."""
        while True:
            message: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=5))
            if len(message.get("waiting", "none")) == count:
                return message


async def test_all_projects_and_subagents_are_in_it(world: World, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    second = await World.open(tmp_path / "second")
    parent = await world.session("the <b>parent")
    child = await below(world, await below(world, parent, "between"), "deep")
    rows = [await ask(child, command="ls"), await ask(await second.session("elsewhere"))]
    rows.append(await ask(parent))
    asked = await question(parent)
    found = await in_db(inbox)
    assert [(group.title, [entry.id for entry in group.entries]) for group in found.groups] == [
        ("the <b>parent", [rows[0].id, rows[2].id, asked.id]),
        ("elsewhere", [rows[1].id]),
    ]
    assert found.count == 4
    page = await in_db(found.html)
    assert "asked by deep" in page
    assert "the &lt;b&gt;parent" in page
    assert "Which &lt;i&gt;?" in page
    assert f'href="/p/{second.project.id}/rules"' in page
    await in_db(session_store.delete, parent.id)
    assert [group.title for group in (await in_db(inbox)).groups] == ["elsewhere"]


async def test_cards_in_the_inbox_have_ids_of_their_own(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    row, asked = await ask(session), await question(session)
    card = (await async_client.get(f"/permissions/{row.id}/card")).content.decode()
    assert f'id="inbox-{row.id}"' in card
    assert f'id="{row.id}' not in card
    form = (await async_client.get(f"/questions/{asked.id}/card")).content.decode()
    assert f'id="inbox-{asked.id}"' in form
    assert f'id="{asked.id}' not in form
    target = {"HX-Target": f"inbox-{row.id}"}
    refused = await async_client.post(f"/permissions/{row.id}/reply", {"answer": "once"}, headers=target)
    assert refused["HX-Retarget"] == f"#inbox-{row.id}-problem"
    target = {"HX-Target": f"inbox-{asked.id}"}
    refused = await async_client.post(f"/questions/{asked.id}/reply", {}, headers=target)
    assert refused["HX-Retarget"] == f"#inbox-{asked.id}-problem"
    elsewhere = {"HX-Target": "somewhere-else"}
    refused = await async_client.post(f"/permissions/{row.id}/reply", {"answer": "once"}, headers=elsewhere)
    assert refused["HX-Retarget"] == f"#{row.id}-problem"
    assert (await async_client.get("/permissions/per_none/card")).status_code == 404


async def test_the_socket_tells_what_comes_and_goes(world: World) -> None:
    session = await world.session("named")
    tab = Tab()
    await tab.socket.connect()
    await tab.waiting(0)
    row = await ask(session, command="ls")
    (entry,) = (await tab.waiting(1))["waiting"]
    assert entry["url"] == f"/p/{session.project_id}/s/{session.id}"
    assert "named" in entry["text"]
    await in_db(session_store.update, session.id, title="renamed")
    assert "renamed" in (await tab.waiting(1))["html"]
    await in_db(permissions.reply, row.id, "always")
    told = await tab.ruled("waiting")
    assert told["rules"] == [session.project_id]
    assert "Nothing waits for you" in told["html"]
    (rule,) = await in_db(permissions.rules, session.project_id)
    for change in (permissions.revoke, permissions.restore):
        assert await in_db(change, rule.id, "me")
        assert (await tab.ruled())["rules"] == [session.project_id]
    await tab.socket.disconnect()


@pytest.mark.usefixtures("world")
async def test_it_is_told_that_servers_stand_otherwise() -> None:
    tab = Tab()
    await tab.socket.connect()
    await tab.waiting(0)
    bus.publish(bus.Event("mcp.changed", {"server": "x"}, directory="/any"))
    assert json.loads(await tab.socket.receive_from(timeout=5)) == {"servers": True}
    await tab.socket.disconnect()


@pytest.mark.usefixtures("world")
async def test_nobody_listens_without_a_login() -> None:
    tab = Tab(principal=None)
    await tab.socket.connect()
    assert (await tab.socket.receive_output())["code"] == 4401


async def test_a_person_has_what_is_of_projects_that_they_see(world: World) -> None:
    session = await world.session()
    await question(session)
    place = f"/{session.project_id}"
    for role, count in (("", 0), ("see", 1)):
        person = {"id": "1", "name": "Ada", "role": "", "roles": {place: role}}
        tab = Tab({**ME, "person": person})
        await tab.socket.connect()
        await tab.waiting(count)
        await tab.socket.disconnect()


async def test_it_is_told_when_a_turn_has_ended(world: World) -> None:
    session = await world.session()
    other = await below(world, session, "below")
    tab = Tab()
    await tab.socket.connect()
    await tab.waiting(0)
    failed = {"name": "APIError", "data": {"message": "No <money> left."}}
    stopped = {"name": "MessageAbortedError", "data": {"message": "Stopped."}}
    for row, error in (
        (other, None),
        (session, stopped),
        (session, None),
        (session, failed),
    ):
        await in_db(session_store.set_status, row.id, Status(type="busy"))
        await in_db(session_store.set_status, row.id, Status(type="idle"), error=error)
    told: list[dict[str, Any]] = []
    while not told or told[-1]["kind"] != "failed":
        told += json.loads(await tab.socket.receive_from(timeout=5)).get("ended", [])
    assert all(one["url"] == session.get_absolute_url() for one in told)
    assert "No <money> left." in told[-1]["text"]
    await tab.socket.disconnect()
