"""Whole turns in an editor: text, thoughts, calls with their diffs, permissions, an end before the end."""

from __future__ import annotations

import asyncio

import pytest
from acp.exceptions import RequestError

from tests.loopback.script import HttpError, TokenUsage, ToolUse, Turn, Wait
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.opencode_web.bridge.acp.stage import Editor, editing
from tests.server import parts_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def begun(editor: Editor, stage: Stage) -> str:
    session = await editor.agent.new_session(cwd=str(stage.project), mcp_servers=[])
    return session.session_id


def bash(command: str, call: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Say it"}, call)


async def test_a_turn_with_an_edit_that_is_allowed(stage: Stage) -> None:
    (stage.project / "a.py").write_text("one = 1\n")
    path = str(stage.project / "a.py")
    edit = ToolUse("edit", {"filePath": path, "oldString": "one = 1", "newString": "one = 2"}, "edit 1")
    stage.plays(
        Turn(reasoning="Let me look.", tools=[ToolUse("read", {"filePath": path}, "read 1")]),
        Turn(text=["I will ", "change it."], tools=[edit]),
        Turn(text="Done.", usage=TokenUsage(input=1000, output=20)),
    )
    async with editing(stage.environ) as editor:
        answer = await editor.prompt(await begun(editor, stage), "Change it")
        person = editor.person
        assert answer.stop_reason == "end_turn"
        assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1000, 20)
        assert person.said() == "I will change it.Done."
        assert person.said("agent_thought_chunk") == "Let me look."
        assert not person.of("user_message_chunk")
        [(asked, options)] = person.asked
        assert asked.tool_call_id == "edit 1"
        assert asked.content
        assert asked.content[0].type == "diff"
        assert (asked.content[0].path, asked.content[0].new_text) == (path, "one = 2\n")
        assert [options[0].kind, options[-1].kind] == ["allow_once", "reject_once"]
        [call] = [call for call in person.of("tool_call") if call["toolCallId"] == "edit 1"]
        assert call["kind"] == "edit"
        last = [call for call in person.of("tool_call_update") if call["toolCallId"] == "edit 1"][-1]
        assert last["status"] == "completed"
        diff = {"type": "diff", "path": path, "oldText": "one = 1\n", "newText": "one = 2\n"}
        assert last["content"][0] == diff
        assert last["locations"] == [{"path": path}]
        assert person.of("usage_update")[-1]["size"] == 200_000
        assert person.of("usage_update")[-1]["used"] == 1020
    assert (stage.project / "a.py").read_text() == "one = 2\n"
    assert editor.process.returncode == 0


async def test_what_is_allowed_in_the_session_is_asked_once_and_what_is_rejected_is_not_done(
    stage: Stage,
) -> None:
    stage.plays(
        Turn(tools=[bash("echo first", "bash 1")]),
        Turn(tools=[bash("echo second", "bash 2")]),
        Turn(tools=[bash("touch never", "bash 3")]),
    )
    async with editing(stage.environ) as editor:
        person = editor.person
        person.answer = lambda call, _: "session" if call.tool_call_id == "bash 1" else "reject"
        session_id = await begun(editor, stage)
        await editor.prompt(session_id, "Say it twice")
        assert [call.tool_call_id for call, _ in person.asked] == ["bash 1", "bash 3"]
        scopes = ["once", "session", "turn", "minutes", "project", "reject"]
        assert [option.option_id for option in person.asked[0][1]] == scopes
        assert "echo" in person.asked[0][1][1].name
        updates = {call["toolCallId"]: call for call in person.of("tool_call_update")}
        text = updates["bash 2"]["content"][0]["content"]["text"]
        assert text == "```console\nsecond\n```"
        assert updates["bash 2"]["kind"] == "execute"
        assert updates["bash 3"]["status"] == "failed"
    assert not (stage.project / "never").exists()


async def test_an_id_that_the_model_gives_again_is_another_call(stage: Stage) -> None:
    stage.plays(Turn(tools=[bash("echo one", "again")]), Turn(tools=[bash("echo two", "again")]))
    async with editing(stage.environ) as editor:
        person = editor.person
        await editor.prompt(await begun(editor, stage), "Say it twice")
        ids = [call["toolCallId"] for call in person.of("tool_call")]
        assert ids[0] == "again"
        assert len(set(ids)) == 2
        assert [call.tool_call_id for call, _ in person.asked] == ids
        updates = {call["toolCallId"]: call for call in person.of("tool_call_update")}
        assert [updates[id]["rawOutput"]["output"].strip() for id in ids] == ["one", "two"]


async def test_a_new_file_has_no_old_text(stage: Stage) -> None:
    path = str(stage.project / "new.txt")
    stage.plays(Turn(tools=[ToolUse("write", {"filePath": path, "content": "new\n"}, "write 1")]))
    async with editing(stage.environ) as editor:
        await editor.prompt(await begun(editor, stage), "Write it")
        last = editor.person.of("tool_call_update")[-1]
        assert last["content"][0] == {"type": "diff", "path": path, "newText": "new\n"}


async def test_a_turn_is_cancelled_while_it_asks_and_while_it_writes(stage: Stage) -> None:
    stage.plays(
        Turn(tools=[bash("touch never", "bash 4")]), Turn(text=["Half ", Wait("cancelled"), "and half"])
    )
    async with editing(stage.environ) as editor:
        person = editor.person
        session_id = await begun(editor, stage)
        person.hold = True
        running = asyncio.create_task(editor.prompt(session_id, "Do it"))
        await person.until(lambda: person.asked)
        await editor.agent.cancel(session_id=session_id)
        assert (await running).stop_reason == "cancelled"
        running = asyncio.create_task(editor.prompt(session_id, "Say it"))
        await person.until(lambda: person.said() == "Half ")
        await editor.agent.cancel(session_id=session_id)
        assert (await running).stop_reason == "cancelled"
        stage.model.gate("cancelled").open()
        assert (await editor.prompt(session_id, "Go on")).stop_reason == "end_turn"
        assert person.said().endswith("Done.")
    assert not (stage.project / "never").exists()


async def test_how_a_turn_ends_otherwise(stage: Stage) -> None:
    stage.plays(
        Turn(text="Too lo", finish="length"),
        Turn(fault=HttpError(400, "no such luck")),
        Turn(fault=HttpError(401, "no such key")),
    )
    async with editing(stage.environ) as editor:
        session_id = await begun(editor, stage)
        assert (await editor.prompt(session_id, "Speak")).stop_reason == "max_tokens"
        with pytest.raises(RequestError, match="no such luck"):
            await editor.prompt(session_id, "Speak")
        with pytest.raises(RequestError, match="no such key") as refused:
            await editor.prompt(session_id, "Speak")
        assert refused.value.code == -32000
        with pytest.raises(RequestError, match="not open here") as unknown:
            await editor.prompt("ses_none", "Speak")
        assert unknown.value.code == -32002


async def test_who_is_gone_stops_their_turn(stage: Stage) -> None:
    """As OpenCode's, whose turns end with its process."""
    stage.plays(Turn(text=["Half ", Wait("gone"), "and half"]))
    async with editing(stage.environ) as editor:
        person = editor.person
        session_id = await begun(editor, stage)
        running = asyncio.create_task(editor.prompt(session_id, "Say it"))
        await person.until(lambda: person.said() == "Half ")
        running.cancel()
    assert editor.process.returncode == 0
    assert session_id not in await stage.client.status()
    [said] = parts_of((await stage.client.messages(session_id))[1:], "text")
    assert said["text"] == "Half "
    stage.model.gate("gone").open()
