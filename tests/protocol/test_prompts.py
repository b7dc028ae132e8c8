"""Prompts: awaited, sent off, without an answer; commands, the shell, summaries, forks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sessions.core.ids import ascending
from tests.loopback.script import ToolUse, Turn, Wait
from tests.protocol.served import Served
from tests.server import parts_of, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"
NO_REPLY = "the message itself is answered, as OpenCode does; its document has assistant messages only"
MODEL = {"providerID": "fake", "modelID": "fake"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"parts": [{"type": "text", "text": words}], **more}


async def test_a_prompt_is_answered_with_the_last_message(served: Served) -> None:
    session = await served.session()
    served.plays(Turn(text="Well."))
    body = text("Hello.", agent="build", model=MODEL, system="Be brief.", tools={"bash": False})
    answer = await served.post(f"/session/{session}/message", body | {"format": {"type": "text"}})
    assert parts_of([answer], "text")[0]["text"] == "Well."
    asked = (await served.get(f"/session/{session}/message"))[0]["info"]
    assert (asked["system"], asked["tools"], asked["model"]) == ("Be brief.", {"bash": False}, MODEL)


async def test_a_message_that_nobody_answers(served: Served) -> None:
    session = await served.session()
    part = {"id": "prt_0mine", "type": "text", "text": "Know this."}
    body = {"messageID": "msg_0mine", "noReply": True, "parts": [part]}
    said = await served.post(f"/session/{session}/message", body, departs=NO_REPLY)
    assert said["info"]["role"] == "user"
    assert said["parts"] == [part | {"sessionID": session, "messageID": said["info"]["id"]}]
    assert await served.get(f"/session/{session}/message") == [said]
    assert session not in await served.get("/session/status")
    await served.client.prompt(session, "And now?")
    roles = [entry["info"]["role"] for entry in await served.get(f"/session/{session}/message")]
    assert roles == ["user", "user", "assistant"]


async def test_a_note_during_a_turn_does_not_wait_for_it(served: Served) -> None:
    """Who sends it may be what the turn waits for, such as a tool of a plugin."""
    session = await served.session()
    served.plays(
        Turn(text=["Begun", Wait(f"noted {session}")], tools=[ToolUse("bash", {"command": "true"})]),
        Turn(text="Known."),
    )
    async with served.client.events() as events:
        await served.ask("POST", f"/session/{session}/prompt_async", text("Go."), status=204)
        await until(events, "message.part.delta", sessionID=session)
        note = {"noReply": True, "parts": [{"type": "text", "text": "Know this."}]}
        said = await served.post(f"/session/{session}/message", note, departs=NO_REPLY)
        assert (said["info"]["role"], said["parts"][0]["text"]) == ("user", "Know this.")
        served.model.gate(f"noted {session}").open()
        await until(events, "session.idle", sessionID=session)
    texts = [part["text"] for part in parts_of(await served.get(f"/session/{session}/message"), "text")]
    assert texts == ["Go.", "Begun", "Know this.", "Known."]


async def test_the_parts_keep_the_ids_that_a_client_gave(served: Served) -> None:
    session = await served.session()
    ids = ["prt_0first" + session[-8:], "prt_0later" + session[-8:]]
    parts = [{"id": id, "type": "text", "text": "Hi."} for id in ids]
    await served.post(f"/session/{session}/message", {"parts": parts})
    await served.post(f"/session/{session}/message", {"parts": parts})
    first, _, second, _ = await served.get(f"/session/{session}/message")
    assert [part["id"] for part in first["parts"]] == ids
    assert not {part["id"] for part in second["parts"]} & set(ids)  # another message has them


async def test_a_prompt_that_is_wrong_is_named(served: Served) -> None:
    session = await served.session()
    for field, body in (
        ("parts", {"parts": []}),
        ("parts", {"parts": [{"type": "text"}]}),
        ("parts", {}),
        ("messageID", text("x", messageID="nope")),
        ("tools", text("x", tools={"bash": "perhaps"})),
    ):
        path = f"/session/{session}/prompt_async"
        wrong = await served.post(path, body, status=400, departs=OWN_ERROR)
        assert wrong["data"]["message"].startswith(field)
    assert await served.get(f"/session/{session}/message") == []


async def test_an_abort_ends_a_turn_that_runs(served: Served) -> None:
    session = await served.session()
    served.plays(Turn(text=["Begun", Wait("abort")]))
    async with served.client.events() as events:
        await served.ask("POST", f"/session/{session}/prompt_async", text("Go."), status=204)
        await until(events, "message.part.delta", sessionID=session)
        assert (await served.get("/session/status"))[session] == {"type": "busy"}
        assert await served.post(f"/session/{session}/abort") is True
        await until(events, "session.idle", sessionID=session)
    last = (await served.get(f"/session/{session}/message"))[-1]
    assert last["info"]["error"]["name"] == "MessageAbortedError"


async def test_a_prompt_that_waits_ends_with_its_session(served: Served) -> None:
    session = await served.session()
    path = f"/session/{session}"
    served.plays(Turn(text=["Begun", Wait(f"deleted {session}")]))
    async with served.client.events() as events:
        await served.ask("POST", f"{path}/prompt_async", text("Go."), status=204)
        await until(events, "message.part.delta", sessionID=session)
    async with served.http.stream("POST", f"{path}/message", json=text("And then?")) as waiting:
        await served.ask("DELETE", path)
        assert json.loads(await waiting.aread())["info"]["sessionID"] == session


async def test_the_prompt_after_a_stop_is_answered(served: Served) -> None:
    """As a page with a stop button does it: the next prompt goes out as soon as the stop is answered, under
    an id that the page has made."""
    session = await served.session()
    for attempt in range(4):
        served.plays(Turn(text=["Begun", Wait(f"stop {session} {attempt}")]), Turn(text=f"Answer {attempt}."))
        async with served.client.events() as events:
            await served.ask("POST", f"/session/{session}/prompt_async", text("Go."), status=204)
            await until(events, "message.part.delta", sessionID=session)
            assert (
                await served.post(f"/session/{session}/abort", directory=str(served.server.project)) is True
            )
            asked = ascending("msg")
            body = text("And now?") | {"messageID": asked}
            await served.ask("POST", f"/session/{session}/prompt_async", body, status=204)
            said = await until(events, "message.part.delta", sessionID=session, delta=f"Answer {attempt}.")
            await until(events, "session.idle", sessionID=session)
        answer = await served.get(f"/session/{session}/message/{said.properties['messageID']}")
        assert answer["info"]["parentID"] == asked
        stopped = (await served.get(f"/session/{session}/message"))[-3]["info"]
        assert stopped["error"]["name"] == "MessageAbortedError"


async def test_a_command_of_the_user_in_the_shell(served: Served) -> None:
    session = await served.session()
    file = served.server.project / "shelled.txt"
    body = {"agent": "build", "command": f"echo told; touch {file}; exit 3"}
    answer = await served.post(f"/session/{session}/shell", body)
    (call,) = answer["parts"]
    assert (call["tool"], call["state"]["status"]) == ("bash", "completed")
    assert call["state"]["output"].startswith("told\n")
    asked, again = await served.get(f"/session/{session}/message")
    assert again == answer
    assert asked["parts"][0]["synthetic"] is True
    assert file.exists()
    await served.post(f"/session/{session}/revert", {"messageID": asked["info"]["id"]})
    assert not file.exists()
    for wrong in ({"agent": "nobody", "command": "true"}, {"command": "true"}, {"agent": "build"}):
        await served.post(f"/session/{session}/shell", wrong, status=400, departs=OWN_ERROR)


async def test_a_shell_command_can_be_stopped(served: Served) -> None:
    session = await served.session()
    body = {"agent": "build", "command": "echo begun; sleep 600"}
    async with served.client.events() as events:
        running = asyncio.create_task(served.post(f"/session/{session}/shell", body))
        await until(events, "session.status", sessionID=session, status={"type": "busy"})
        async for event in events:
            state = event.properties.get("part", {}).get("state", {})
            if event.session_id == session and "begun" in (state.get("metadata") or {}).get("output", ""):
                break
        await served.post(f"/session/{session}/abort")
        answer = await running
    assert answer["info"]["error"]["name"] == "MessageAbortedError"


async def test_the_command_init(served: Served) -> None:
    session = await served.session()
    body = {**MODEL, "messageID": "msg_0init" + session[-8:]}
    assert await served.post(f"/session/{session}/init", body) is True
    asked = (await served.get(f"/session/{session}/message"))[0]
    assert asked["parts"][0]["text"] == "/init"
    await served.post(f"/session/{session}/init", MODEL, status=400, departs=OWN_ERROR)


async def test_commands_by_name(served: Served) -> None:
    session = await served.session()
    answer = await served.post(f"/session/{session}/command", {"command": "review", "arguments": ""})
    assert answer["info"]["role"] == "assistant"
    unknown = {"command": "nothing", "arguments": ""}
    await served.post(f"/session/{session}/command", unknown, status=404)


async def test_a_summary_says_while_it_is_made(served: Served) -> None:
    session = await served.session()
    await served.client.prompt(session, "Hello.")
    served.plays(Turn(text=["A ", Wait("summary"), "summary."]))
    async with served.client.events() as events:
        asked = asyncio.create_task(served.post(f"/session/{session}/summarize", MODEL))
        await until(events, "message.part.delta", sessionID=session)
        assert "compacting" in (await served.get(f"/session/{session}"))["time"]
        await served.opens("summary")
        assert await asked is True
    assert "compacting" not in (await served.get(f"/session/{session}"))["time"]
    empty = await served.session()
    await served.post(f"/session/{empty}/summarize", MODEL, status=400, departs=OWN_ERROR)


async def test_a_fork_has_what_was_said_before(served: Served) -> None:
    session = await served.session("Trunk")
    await served.client.prompt(session, "One.")
    await served.client.prompt(session, "Two.")
    whole = await served.get(f"/session/{session}/message")
    fork = await served.post(f"/session/{session}/fork", {"messageID": whole[2]["info"]["id"]})
    copied = await served.get(f"/session/{fork['id']}/message")
    assert [entry["info"]["role"] for entry in copied] == ["user", "assistant"]
    assert parts_of(copied, "text")[0]["text"] == "One."
    await served.post(f"/session/{session}/fork", {"messageID": "msg_none"}, status=404)
