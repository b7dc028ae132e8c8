"""Undo over `/api`: staged, moved, taken back, made final; with what it does to files."""

from __future__ import annotations

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Json, Served
from tests.protocol.v2 import Talk, kinds

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _written(served: Served, name: str) -> tuple[Talk, list[Json]]:
    """Two prompts that each write the file anew; the prompts."""
    talk = await Talk.begin(served)
    path = served.server.project / name
    prompts = []
    for text in ("one\n", "two\n"):
        write = ToolUse("write", {"filePath": str(path), "content": text})
        served.plays(Turn(tools=[write]), Turn(text="Written."))
        prompts.append(await talk.says(f"Write {text}"))
    return talk, prompts


async def test_stage_clear_commit(served: Served) -> None:
    talk, (first, second) = await _written(served, "v2-revert.txt")
    path = served.server.project / "v2-revert.txt"
    staged = await talk.post("/revert/stage", {"messageID": second["id"]}, status=200)
    assert staged["data"]["messageID"] == second["id"]
    assert "-two" in staged["data"]["diff"]
    assert path.read_text() == "one\n"
    assert (await talk.get())["revert"] == staged["data"]
    assert [said.get("text") for said in await talk.get("/context")][:1] == ["Write one\n"]
    assert second["id"] not in [said["id"] for said in await talk.get("/context")]
    await talk.post("/revert/stage", {"messageID": first["id"]}, status=200)
    assert not path.exists()
    await talk.post("/revert/clear")
    assert path.read_text() == "two\n"
    assert "revert" not in await talk.get()
    await talk.post("/revert/clear")
    await talk.post("/revert/stage", {"messageID": second["id"]}, status=200)
    await talk.post("/revert/commit")
    await talk.post("/revert/commit")
    assert path.read_text() == "one\n"
    shown = await talk.messages()
    assert [said["type"] for said in shown] == ["user", "assistant", "assistant"]
    await served.get(f"/api/session/{talk.id}/message/{second['id']}", status=404)
    told = [kind for kind in kinds(await talk.history()) if kind.startswith("revert")]
    assert told == ["revert.cleared", "revert.committed"], "what was staged is no more"
    path.unlink()


async def test_the_conversation_alone(served: Served) -> None:
    talk, (_, second) = await _written(served, "v2-kept.txt")
    path = served.server.project / "v2-kept.txt"
    staged = await talk.post("/revert/stage", {"messageID": second["id"], "files": False}, status=200)
    assert staged["data"]["messageID"] == second["id"]
    assert path.read_text() == "two\n"
    assert kinds(await talk.history())[-1] == "revert.staged"
    served.plays(Turn(text="Anew."))
    await talk.says("Something else.")
    assert second["id"] not in [said["id"] for said in await talk.messages()]
    assert path.read_text() == "two\n"
    path.unlink()


async def test_what_a_model_would_be_given_after_an_undo_from_a_part(served: Served) -> None:
    talk = await Talk.begin(served)
    read = ToolUse("read", {"filePath": "hello.py"})
    served.plays(Turn(text="First I look.", tools=[read]), Turn(text="Seen."))
    await talk.says("Look.")
    entries = await served.get(f"/session/{talk.id}/message")
    call = next(part for part in entries[1]["parts"] if part["type"] == "tool")
    undo = {"messageID": call["messageID"], "partID": call["id"]}
    await served.post(f"/session/{talk.id}/revert", undo)
    user, answer = await talk.get("/context")
    assert (user["text"], [part["type"] for part in answer["content"]]) == ("Look.", ["text"])
    assert len(await talk.messages()) == 3


async def test_what_cannot_be_staged(served: Served) -> None:
    talk = await Talk.begin(served)
    await talk.post("/revert/stage", {"messageID": "msg_none"}, status=404)
    refused = await talk.post("/revert/stage", {"messageID": "nonsense"}, status=400)
    assert refused["field"] == "messageID"
    for path in ("stage", "clear", "commit"):
        body = {"messageID": "msg_none"}
        await served.post(f"/api/session/ses_none/revert/{path}", body, status=404)
