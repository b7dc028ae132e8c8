"""`/tui`: a terminal client driven from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.served import Served
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"

ORDERS: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("append-prompt", {"text": "Hello"}, "tui.prompt.append", {"text": "Hello"}),
    ("open-help", None, "tui.command.execute", {"command": "help.show"}),
    ("open-sessions", None, "tui.command.execute", {"command": "session.list"}),
    ("open-themes", None, "tui.command.execute", {"command": "theme.switch"}),
    ("open-models", None, "tui.command.execute", {"command": "model.list"}),
    ("submit-prompt", None, "tui.command.execute", {"command": "prompt.submit"}),
    ("clear-prompt", None, "tui.command.execute", {"command": "prompt.clear"}),
    ("execute-command", {"command": "agent_cycle"}, "tui.command.execute", {"command": "agent.cycle"}),
    ("execute-command", {"command": "x.own"}, "tui.command.execute", {"command": "x.own"}),
    (
        "show-toast",
        {"message": "Done", "variant": "success"},
        "tui.toast.show",
        {"message": "Done", "variant": "success", "duration": 5000},
    ),
    (
        "publish",
        {"type": "tui.prompt.append", "properties": {"text": "Published"}},
        "tui.prompt.append",
        {"text": "Published"},
    ),
]


async def test_an_order_reaches_the_clients_of_its_folder(served: Served, tmp_path: Path) -> None:
    async with served.client.events() as events:
        await served.post("/tui/append-prompt", {"text": "elsewhere"}, directory=str(tmp_path))
        for path, body, type, properties in ORDERS:
            assert await served.ask("POST", f"/tui/{path}", body) is True
            event = await anext(events)
            while not event.type.startswith("tui."):
                event = await anext(events)
            assert (event.type, dict(event.properties)) == (type, properties)
        session = await served.session()
        assert await served.post("/tui/select-session", {"sessionID": session}) is True
        await until(events, "tui.session.select", sessionID=session)


async def test_orders_that_are_wrong(served: Served) -> None:
    for path, body in (
        ("append-prompt", {"text": 5}),
        ("append-prompt", {}),
        ("execute-command", {}),
        ("show-toast", {"message": "x", "variant": "blue"}),
        ("show-toast", {"message": "x", "variant": "info", "duration": -5}),
        ("publish", {"type": "tui.other", "properties": {}}),
        ("publish", {"type": "tui.prompt.append", "properties": {}}),
        ("select-session", {"sessionID": "nope"}),
    ):
        answer = await served.post(f"/tui/{path}", body, status=400, departs=OWN_ERROR)
        assert answer["name"] == "BadRequest"
    await served.post("/tui/select-session", {"sessionID": "ses_none"}, status=404)
    for content in (b"", b"{bad"):
        wrong = await served.http.post("/tui/control/response", content=content)
        assert wrong.status_code == 400


async def test_orders_one_by_one(served: Served, tmp_path: Path) -> None:
    here = {"directory": str(tmp_path)}
    waiting = asyncio.create_task(served.get("/tui/control/next", **here))
    while not waiting.done():  # until the poll stands, orders are nobody's
        await served.post("/tui/append-prompt", {"text": "First"}, **here)
    assert await waiting == {"path": "/tui/append-prompt", "body": {"text": "First"}}
    assert await served.post("/tui/control/response", {"done": True}, **here) is True
    await served.post("/tui/show-toast", {"message": "Between", "variant": "info"}, **here)
    order = await served.get("/tui/control/next", **here)
    while order["path"] == "/tui/append-prompt":
        order = await served.get("/tui/control/next", **here)
    assert order["body"]["message"] == "Between"
