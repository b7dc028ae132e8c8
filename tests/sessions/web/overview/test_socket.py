"""The socket of the overview: rows that change, come and go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from sessions.web.overview.socket import Stages, websocket_urlpatterns
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


class Tab:
    """One page's connection."""

    def __init__(self, query: str = "", principal: object = {"kind": "cookie"}) -> None:
        self.socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), f"/ws/overview/?{query}")
        scope: dict[str, object] = self.socket.scope  # type: ignore[assignment]
        scope["principal"] = principal

    async def told(self, words: str) -> dict[str, Any]:
        """The message that has these words."""
        while True:
            text = await self.socket.receive_from(timeout=5)
            if words in text:
                message: dict[str, Any] = json.loads(text)
                return message


async def test_a_session_changes_its_column_and_goes(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path, "watched")
    tab = Tab()
    await tab.socket.connect()
    await tab.told("ready")
    await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
    assert 'data-column="running"' in (await tab.told("watched"))["html"]
    child = await in_db(
        session_store.create, talk.project, str(tmp_path), title="sent by it", parent=talk.session.id
    )
    await in_db(session_store.set_status, child.id, Status(type="busy"))
    assert f"{talk.session.id}-row" in (await tab.told("sent by it"))["html"]
    await in_db(session_store.set_status, child.id, Status(type="idle"))
    await in_db(session_store.set_status, talk.session.id, Status(type="idle"))
    assert 'data-column="done"' in (await tab.told('data-column=\\"done'))["html"]
    await in_db(session_store.delete, talk.session.id)
    assert (await tab.told('gone": ["'))["gone"] == [talk.session.id]
    await tab.socket.disconnect()


async def test_the_filter_of_the_page_counts(tmp_path: Path) -> None:
    one, two = await Talk.begin(tmp_path / "one", "a fox"), await Talk.begin(tmp_path / "two", "a hen")
    tab = Tab("q=fox")
    await tab.socket.connect()
    await tab.told("ready")
    for talk in (two, one):
        await in_db(session_store.pin, talk.session.id)
    message = await tab.told("a fox")
    assert "a hen" not in message["html"]
    await in_db(session_store.rename, one.session.id, "a cat")
    assert (await tab.told(one.session.id))["gone"] == [one.session.id]
    await tab.socket.disconnect()


async def test_nobody_is_told_without_a_principal() -> None:
    tab = Tab(principal=None)
    await tab.socket.connect()
    assert (await tab.socket.receive_output())["code"] == 4401


def test_lines_of_a_running_command_are_no_news() -> None:
    stages = Stages()

    def moves(status: str, **more: Any) -> bool:
        part = {"id": "prt_1", "type": "tool", "state": {"status": status}} | more
        return stages.moves(
            bus.Event("message.part.updated", {"part": part}, project_id="p", session_id="ses_1")
        )

    assert [moves("pending"), moves("running"), moves("running"), moves("completed")] == [
        True,
        True,
        False,
        True,
    ]
    assert not moves("running", type="step-start")
