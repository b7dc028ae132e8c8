"""History, parts, undo: what was said and what was changed."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import httpx
import pytest

from tests.loopback.script import ToolUse, Turn, Wait
from tests.protocol.served import Served
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"


async def talk(served: Served, *texts: str) -> tuple[str, list[dict[str, Any]]]:
    session = await served.session()
    for text in texts:
        await served.client.prompt(session, text)
    return session, await served.get(f"/session/{session}/message")


def ids(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["info"]["id"] for entry in entries]


async def test_history_page_by_page(served: Served) -> None:
    session, whole = await talk(served, "One.", "Two.")
    path = f"/session/{session}/message"
    assert len(whole) == 4
    assert await served.get(path, limit=0) == whole
    assert await served.get(path, limit=9) == whole
    last = await served.http.get(path, params={"limit": 3})
    assert ids(last.json()) == ids(whole)[1:]
    assert last.links["next"]["url"].endswith(f"before={last.headers['x-next-cursor']}")
    first = await served.http.get(last.links["next"]["url"])
    assert ids(first.json()) == ids(whole)[:1]
    assert "x-next-cursor" not in first.headers
    cursors = (b64encode(text).decode() for text in (b"[" * 1500, rb'{"id":"\ud800"}', b'{"id":1}'))
    odd = [{"limit": "2", "before": cursor} for cursor in ("x", *cursors)]
    for query in ({"limit": "-1"}, {"limit": "x"}, {"before": "x"}, *odd):
        wrong = await served.ask("GET", path, status=400, departs=OWN_ERROR, **query)
        assert wrong["data"]["message"].split(":")[0] in query


async def test_one_message_and_its_removal(served: Served) -> None:
    session, (asked, answer) = await talk(served, "Hello.")
    path = f"/session/{session}/message/{answer['info']['id']}"
    assert await served.get(path) == answer
    elsewhere = path.replace(session, await served.session())
    for method in ("GET", "DELETE"):
        await served.ask(method, elsewhere, status=404)
    assert await served.ask("DELETE", path) is True
    assert await served.get(f"/session/{session}/message") == [asked]
    await served.ask("GET", path, status=404)


async def test_no_message_is_removed_while_a_turn_runs(served: Served) -> None:
    session, (asked, _) = await talk(served, "Hello.")
    served.plays(Turn(text=["Begun", Wait("removal")]))
    async with served.client.events() as events:
        await served.client.prompt_async(session, "Go on.")
        await until(events, "message.part.delta", sessionID=session)
        path = f"/session/{session}/message/{asked['info']['id']}"
        refused = await served.ask("DELETE", path, status=409)
        assert refused["sessionID"] == session
        for operation, body in (
            ("revert", {"messageID": asked["info"]["id"]}),
            ("unrevert", {}),
            ("shell", {"agent": "build", "command": "true"}),
        ):
            await served.post(f"/session/{session}/{operation}", body, status=409)
        await served.opens("removal")
        await until(events, "session.idle", sessionID=session)


async def test_parts_are_put_and_removed(served: Served) -> None:
    session, (asked, answer) = await talk(served, "Hello.")
    message = asked["info"]["id"]
    path = f"/session/{session}/message/{message}/part"
    part = asked["parts"][0]
    assert await served.ask("PATCH", f"{path}/{part['id']}", {**part, "text": "Changed."}) == {
        **part,
        "text": "Changed.",
    }
    new = {"id": "prt_zzz", "sessionID": session, "messageID": message, "type": "text", "text": "Added."}
    async with served.client.events() as events:
        await served.ask("PATCH", f"{path}/prt_zzz", new)
        await until(events, "message.part.updated", part=new)
        assert await served.ask("DELETE", f"{path}/prt_zzz") is True
        await until(events, "message.part.removed", partID="prt_zzz", messageID=message)
    await served.ask("DELETE", f"{path}/prt_zzz", status=404)
    foreign = {**part, "messageID": answer["info"]["id"]}
    for body in ({**part, "id": "prt_other"}, foreign, {**part, "sessionID": "ses_x"}, {"type": "text"}):
        wrong = await served.ask("PATCH", f"{path}/{part['id']}", body, status=400, departs=OWN_ERROR)
        assert ":" in wrong["data"]["message"]
    taken = path.replace(message, answer["info"]["id"])
    await served.ask("PATCH", f"{taken}/{part['id']}", foreign, status=404)
    (left,) = (await served.get(f"/session/{session}/message/{message}"))["parts"]
    assert left["text"] == "Changed."


async def test_undo_and_redo_of_an_edit(served: Served) -> None:
    file = served.server.project / "made.txt"
    served.plays(Turn(tools=[ToolUse("write", {"filePath": str(file), "content": "made\n"})]))
    session, entries = await talk(served, "Make it.")
    asked = entries[0]["info"]["id"]
    (diff,) = await served.get(f"/session/{session}/diff", messageID=asked)
    assert (diff["file"], diff["status"]) == ("made.txt", "added")
    other = await served.session()
    assert await served.get(f"/session/{other}/diff", messageID=asked) == []
    await served.ask("GET", f"/session/{session}/diff", status=400, messageID="nope")
    both = await asyncio.gather(*(_revert(served, session, asked) for _ in range(2)))
    assert {answer.status_code for answer in both} <= {200, 409}
    assert 200 in {answer.status_code for answer in both}
    assert not file.exists()
    assert (await served.get(f"/session/{session}"))["revert"]["messageID"] == asked
    await served.post(f"/session/{session}/revert", {"messageID": "msg_none"}, status=404)
    done = await served.http.post(f"/session/{session}/unrevert", headers={"X-Opencode-Web": "1"})
    row = done.json()
    assert "revert" not in row
    assert row["outcome"]["changed"] == [{"file": file.name, "reason": ""}]
    assert file.read_text() == "made\n"
    file.unlink()


async def _revert(served: Served, session: str, message: str) -> httpx.Response:
    return await served.http.post(f"/session/{session}/revert", json={"messageID": message})
