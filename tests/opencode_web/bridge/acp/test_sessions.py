"""Sessions that an editor lists, opens again, copies and closes, and what it chooses for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from acp.exceptions import RequestError
from acp.schema import EnvVariable, McpServerStdio

from tests.agents.servers.mcp.watching import raw
from tests.loopback.script import ToolUse, Turn, Wait
from tests.opencode_web.bridge.acp.conftest import Stage
from tests.opencode_web.bridge.acp.stage import editing
from tests.opencode_web.bridge.acp.test_turns import bash, begun
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_it_says_it_can_do(stage: Stage) -> None:
    async with editing(stage.environ) as editor:
        said = editor.initialized
        assert said.protocol_version == 1
        assert said.agent_info
        assert said.agent_info.name == "opencode-web"
        able = said.agent_capabilities
        assert able
        assert able.load_session
        assert able.session_capabilities
        assert able.session_capabilities.list is not None
        assert able.prompt_capabilities
        assert (able.prompt_capabilities.image, able.prompt_capabilities.embedded_context) == (True, True)


async def test_a_session_is_listed_and_loaded_again(stage: Stage) -> None:
    todos = [{"content": "Say it", "status": "in_progress", "priority": "high"}]
    todos.append({"content": "Never mind", "status": "cancelled", "priority": "low"})
    stage.plays(
        Turn(reasoning="Hm.", text="A list.", tools=[ToolUse("todowrite", {"todos": todos}, "todo 1")]),
        Turn(tools=[bash("echo loaded", "load 1")]),
        Turn(text="Loaded."),
    )
    entries = [{"content": "Say it", "priority": "high", "status": "in_progress"}]
    async with editing(stage.environ) as editor:
        session_id = await begun(editor, stage)
        await editor.prompt(session_id, "Plan it")
        assert editor.person.of("plan")[-1]["entries"] == entries
    async with editing(stage.environ) as editor:
        person, cwd = editor.person, str(stage.project)
        listed = await editor.agent.list_sessions(cwd=cwd)
        assert session_id in [session.session_id for session in listed.sessions]
        assert listed.sessions[0].cwd == cwd
        everywhere = await editor.agent.list_sessions()
        assert session_id in [session.session_id for session in everywhere.sessions]
        loaded = await editor.agent.load_session(cwd=cwd, session_id=session_id, mcp_servers=[])
        assert loaded.modes
        assert person.said("user_message_chunk") == "Plan it"
        assert person.said("agent_thought_chunk") == "Hm."
        assert person.said() == "A list.Loaded."
        assert person.of("plan")[-1]["entries"] == entries
        calls = {call["toolCallId"]: call for call in person.of("tool_call")}
        assert calls["load 1"]["status"] == "completed"
        before = len(person.told)
        stage.plays(Turn(text=" More."))
        await editor.prompt(session_id, "Go on")
        assert person.said() == "A list.Loaded. More."
        assert not [told for told in person.told[before:] if told.kind in ("tool_call", "user_message_chunk")]
        copy = await editor.agent.fork_session(cwd=cwd, session_id=session_id, mcp_servers=[])
        assert copy.session_id != session_id
        await editor.agent.resume_session(cwd=cwd, session_id=session_id, mcp_servers=[])
        assert person.said() == "A list.Loaded. More."
        with pytest.raises(RequestError, match="ses_none"):
            await editor.agent.load_session(cwd=cwd, session_id="ses_none", mcp_servers=[])
        with pytest.raises(RequestError, match="not an absolute path"):
            await editor.agent.new_session(cwd="here", mcp_servers=[])


async def test_a_turn_that_runs_at_the_page_is_gone_on_with(stage: Stage) -> None:
    stage.plays(Turn(text=["Begun ", Wait("opened"), "and ended."]))
    session_id = str((await stage.client.create_session())["id"])
    async with stage.client.events() as events:
        running = asyncio.create_task(stage.client.prompt(session_id, "From the page"))
        await until(events, "message.part.delta", sessionID=session_id)
    async with editing(stage.environ) as editor:
        person = editor.person
        await editor.agent.load_session(cwd=str(stage.project), session_id=session_id, mcp_servers=[])
        await person.until(lambda: person.of("available_commands_update"))
        stage.model.gate("opened").open()
        await running
        await person.until(lambda: person.said() == "Begun and ended.")


async def test_additional_folders_may_be_read(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "beside.txt").write_text("beside it")
    read = ToolUse("read", {"filePath": str(tmp_path / "beside.txt")}, "beside 1")
    stage.plays(Turn(tools=[read]))
    async with editing(stage.environ) as editor:
        session = await editor.agent.new_session(
            cwd=str(stage.project), additional_directories=[str(tmp_path)], mcp_servers=[]
        )
        await editor.prompt(session.session_id, "Read it")
        assert "beside it" in str(editor.person.of("tool_call_update")[-1]["content"])
        assert not editor.person.asked


async def test_closing_it_stops_its_turn(stage: Stage) -> None:
    stage.plays(Turn(text=["Half ", Wait("closed"), "and half"]))
    async with editing(stage.environ) as editor:
        person = editor.person
        session_id = await begun(editor, stage)
        running = asyncio.create_task(editor.prompt(session_id, "Say it"))
        await person.until(lambda: person.said() == "Half ")
        await editor.agent.close_session(session_id=session_id)
        assert (await running).stop_reason == "cancelled"
        stage.model.gate("closed").open()
        with pytest.raises(RequestError, match="not open here"):
            await editor.prompt(session_id, "Go on")


async def test_the_mode_the_model_and_its_effort_are_chosen(stage: Stage) -> None:
    async with editing(stage.environ) as editor:
        session = await editor.agent.new_session(cwd=str(stage.project), mcp_servers=[])
        session_id = session.session_id
        assert session.modes
        assert session.modes.current_mode_id == "build"
        assert {"build", "plan"} <= {mode.id for mode in session.modes.available_modes}
        options = {option.id: option for option in session.config_options or []}
        assert options["model"].current_value == "fake/fake"
        await editor.agent.set_session_mode(session_id=session_id, mode_id="plan")
        changed = await editor.agent.set_config_option(
            session_id=session_id, config_id="model", value="fake/other"
        )
        assert {option.id: option.current_value for option in changed.config_options} == {
            "model": "fake/other", "mode": "plan", "effort": "default"
        }  # fmt: skip
        await editor.agent.set_config_option(session_id=session_id, config_id="effort", value="high")
        await editor.prompt(session_id, "Think")
        with pytest.raises(RequestError, match="There is no mode 'none'"):
            await editor.agent.set_session_mode(session_id=session_id, mode_id="none")
    [asked] = [
        one["info"] for one in await stage.client.messages(session_id) if one["info"]["role"] == "user"
    ]
    assert asked["agent"] == "plan"
    assert (asked["model"]["modelID"], asked["model"]["variant"]) == ("other", "high")


async def test_commands_are_listed_and_called(stage: Stage) -> None:
    folder = stage.project / ".opencode" / "command"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("---\ndescription: Greet somebody\n---\nGreet $ARGUMENTS kindly.")
    async with editing(stage.environ) as editor:
        person = editor.person
        session_id = await begun(editor, stage)
        await person.until(lambda: person.of("available_commands_update"))
        [told] = person.of("available_commands_update")
        commands = {command["name"]: command for command in told["availableCommands"]}
        assert commands["greet"]["description"] == "Greet somebody"
        assert commands["greet"]["input"] == {"hint": "$ARGUMENTS"}
        assert "compact" in commands
        stage.plays(Turn(text="Hello."), Turn(text="They greeted."))
        await editor.prompt(session_id, "/greet the world")
        assert person.said() == "Hello."
        assert not person.of("user_message_chunk")
        assert "Greet the world kindly." in str(await stage.client.messages(session_id))
        assert (await editor.prompt(session_id, "/compact")).stop_reason == "end_turn"
        assert any(
            part["type"] == "compaction"
            for one in await stage.client.messages(session_id)
            for part in one["parts"]
        )


async def test_the_editors_mcp_servers_are_there_while_it_is(stage: Stage) -> None:
    command, *arguments = raw()["command"]
    variables = [EnvVariable(name="FROM", value="the editor")]
    server = McpServerStdio(name="from editor", command=command, args=arguments, env=variables)
    for _ in range(2):
        async with editing(stage.environ) as editor:
            session = await editor.agent.new_session(cwd=str(stage.project), mcp_servers=[server])
            assert (await stage.client.get("/mcp"))["from editor"] == {"status": "connected"}
            assert session.session_id
        assert (await stage.client.get("/mcp"))["from editor"] == {"status": "disabled"}
