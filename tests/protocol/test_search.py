"""`/find/message`: ours, beside the searches of OpenCode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.served import Served

OURS = "OpenCode has no search of what was said"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_was_said_is_found(served: Served) -> None:
    session = (await served.client.create_session("About animals"))["id"]
    prompt = await served.client.post(
        f"/session/{session}/message",
        {"noReply": True, "parts": [{"type": "text", "text": "Where does the quokka live?"}]},
    )

    async def find(query: str) -> Any:
        return await served.ask("GET", "/find/message", departs=OURS, query=query)

    (match,) = (await find("quokka project:this"))["matches"]
    assert match["sessionID"] == session
    assert match["messageID"] == prompt["info"]["id"]
    assert match["kind"] == "prompt"
    assert [piece["text"] for piece in match["snippet"] if piece["marked"]] == ["quokka"]
    assert (await find("animals"))["matches"][0]["kind"] == "title"
    assert (await find("after:soon"))["problems"]
