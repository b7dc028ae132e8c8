"""Low-level tools of each group, resources and prompts, against our server and OpenCode's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from opencode_web.bridge.formatting.plain import MAX_CHARACTERS
from tests.loopback.script import Turn
from tests.opencode_web.bridge.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "sk-this-is-a-secret"


async def test_sessions(stage: Stage) -> None:
    session_id = await stage.session()
    await stage.tools.ok("session_update", sessionID=session_id, title="Renamed at last")
    assert session_id in await stage.tools.ok("session_search", search="Renamed at last")
    assert session_id in await stage.tools.ok("session_list", limit=5)
    assert "Renamed at last" in await stage.tools.ok("session_get", sessionID=session_id)
    child = (await stage.tools.ok("session_create", parentID=session_id)).split(" ")[0]
    assert child in await stage.tools.ok("session_children", sessionID=session_id)
    assert await stage.tools.ok("session_status") == "All sessions are idle."
    assert await stage.tools.ok("session_todo", sessionID=session_id) == "No todo list."
    assert "was deleted" in await stage.tools.ok("session_delete", sessionID=session_id)
    assert (await stage.tools.fails("session_get", sessionID=session_id)).startswith("not_found: ")


async def test_messages(stage: Stage) -> None:
    stage.plays(Turn(text="An answer."))
    session_id = await stage.session()
    answer = await stage.tools.ok("message_send", sessionID=session_id, text="A prompt")
    assert "An answer." in answer
    message_id = next(word for word in answer.split() if word.startswith("msg_"))
    assert await stage.tools.ok("message_get", sessionID=session_id, messageID=message_id) == answer
    assert "A prompt" in await stage.tools.ok("message_list", sessionID=session_id)
    fork = (await stage.tools.ok("session_fork", sessionID=session_id)).split(" ")[0]
    assert "An answer." in await stage.tools.ok("message_list", sessionID=fork)
    shell = await stage.tools.ok("shell_execute", sessionID=session_id, command="echo from a shell")
    assert "from a shell" in shell
    noted = await stage.tools.ok("message_send", sessionID=session_id, text="Only a note", noReply=True)
    assert "Only a note" in noted
    assert "was deleted" in await stage.tools.ok("message_delete", sessionID=session_id, messageID=message_id)
    assert "An answer." not in await stage.tools.ok("message_list", sessionID=session_id)


async def test_a_compaction_needs_no_model_to_be_named(stage: Stage) -> None:
    stage.plays(Turn(text="An answer."), Turn(text="A summary."))
    session_id = await stage.session()
    await stage.tools.ok("message_send", sessionID=session_id, text="A prompt")
    assert "was compacted" in await stage.tools.ok("session_summarize", sessionID=session_id)
    assert "A summary." in await stage.tools.ok("message_list", sessionID=session_id)


async def test_files(stage: Stage) -> None:
    assert "def hello()" in await stage.tools.ok("file_read", path="hello.py")
    assert "- src/" in await stage.tools.ok("file_list", path=".")
    assert "src/app.py" in await stage.tools.ok("find_file", query="app")
    (stage.project / "hello.py").write_text("def hello():\n    return 'changed'\n")
    try:
        assert "hello.py (modified, +1 -1)" in await stage.tools.ok("vcs_status")
        assert "+    return 'changed'" in await stage.tools.ok("vcs_diff", mode="git")
    finally:
        (stage.project / "hello.py").write_text("def hello():\n    return 'hello'\n")
    assert "main" in await stage.tools.ok("vcs_info")
    outside = await stage.tools.fails("file_read", path="../../etc/passwd")
    assert "root:" not in outside


async def test_a_long_answer_is_cut_off_and_says_so(stage: Stage) -> None:
    (stage.project / "long.txt").write_text("x" * (MAX_CHARACTERS + 10))
    text = await stage.tools.ok("file_read", path="long.txt")
    assert len(text) == MAX_CHARACTERS
    assert text.endswith("[Cut off: this is the beginning of 50,010 characters. Ask for less at a time.]")


async def test_configuration_and_providers_without_their_secrets(stage: Stage) -> None:
    config = await stage.tools.ok("config_get")
    assert '"model": "fake/fake"' in config
    assert '"apiKey": "[hidden]"' in config
    assert "fake (Fake)" in await stage.tools.ok("config_providers")
    assert "fake (Fake): 200000 tokens" in await stage.tools.ok("provider_models", providerID="fake")
    assert "fake (Fake): connected" in await stage.tools.ok("provider_list")
    stored = await stage.tools.ok("auth_set", providerID="somebody", key=KEY)
    assert stored == "The key was stored."
    assert KEY not in (await stage.tools("auth_set", providerID="..", key=KEY)).text
    assert "removed" in await stage.tools.ok("auth_remove", providerID="somebody")


async def test_the_terminal_client_is_told(stage: Stage) -> None:
    assert "was told" in await stage.tools.ok("tui_append_prompt", text="Hello")
    assert "was told" in await stage.tools.ok("tui_show_toast", message="Done", variant="success")
    wrong = await stage.tools.fails("tui_show_toast", message="Done", variant="loud")
    assert wrong.startswith("invalid: variant")


async def test_agents_commands_and_servers(stage: Stage) -> None:
    assert "- build · primary" in await stage.tools.ok("agent_list")
    assert "- init" in await stage.tools.ok("command_list")
    assert "- bash" in await stage.tools.ok("tool_ids")
    config = {"type": "local", "command": ["no-such-program"], "environment": {"TOKEN": KEY}}
    added = await stage.tools.ok("mcp_add", name="broken", config=config)
    assert "broken: failed" in added
    assert KEY not in added
    assert "broken: failed" in await stage.tools.ok("mcp_status")
    assert await stage.tools.ok("log", service="test", level="info", message="A line") == "Logged."


async def test_names_of_other_bridges_are_understood(stage: Stage) -> None:
    session = await stage.session()
    for given in ({"sessionId": session}, {"session_id": session}, {"id": session}):
        assert session in await stage.tools.ok("session_get", **given)
    waited = await stage.tools.ok("wait", sessionId=session, timeoutSeconds=60, pollIntervalMs=100)
    assert f"(session {session} is idle)" in waited
    wrong = await stage.tools.fails("session_get", sessionID=session, sesion=session)
    assert wrong.startswith("invalid: sesion: there is no such argument; it takes directory, sessionID.")
    assert "Did you mean sessionID?" in wrong
    twice = await stage.tools.fails("session_get", sessionID=session, sessionId="ses_other")
    assert twice.startswith("invalid: sessionId: there is no such argument")


async def test_a_folder_becomes_a_repository(stage: Stage, tmp_path: Path) -> None:
    made = json.loads(await stage.tools.ok("project_init", directory=str(tmp_path)))
    assert made["worktree"] == str(tmp_path)
    assert (tmp_path / ".git").is_dir()


async def test_projects_and_the_servers_health(stage: Stage) -> None:
    assert json.loads(await stage.tools.ok("health"))["healthy"] is True
    current = json.loads(await stage.tools.ok("project_current"))
    assert current["worktree"] == str(stage.project)
    assert current["id"] in await stage.tools.ok("project_list")
    assert json.loads(await stage.tools.ok("path_get"))["directory"] == str(stage.project)


async def test_another_directory_is_another_project(stage: Stage) -> None:
    elsewhere = json.loads(await stage.tools.ok("path_get", directory=f"{stage.project}/src/"))
    assert elsewhere["directory"] == f"{stage.project}/src"
    for directory in ("/no/such/folder", "src"):
        assert (await stage.tools.fails("path_get", directory=directory)).startswith("invalid: The directory")


async def test_terminals_and_worktrees(stage: Stage) -> None:
    made = json.loads(await stage.tools.ok("pty_create", command="/bin/sh", title="A shell"))
    assert made["id"] in await stage.tools.ok("pty_list")
    assert "was ended" in await stage.tools.ok("pty_remove", ptyID=made["id"])
    tree = json.loads(await stage.tools.ok("worktree_create", name="aside"))
    assert tree["directory"] in await stage.tools.ok("worktree_list")
    assert "was removed" in await stage.tools.ok("worktree_remove", worktree=tree["directory"])


async def test_events_are_collected(stage: Stage) -> None:
    polled = await stage.tools.ok("events_poll", seconds=30, limit=1)
    assert "server.connected" in polled


async def test_resources_are_json_and_prompts_have_their_arguments(stage: Stage) -> None:
    for resource in (await stage.tools.client.list_resources()).resources:
        contents = (await stage.tools.client.read_resource(resource.uri)).contents[0]
        data = json.loads(contents.text)  # type: ignore[union-attr]
        if resource.uri == "opencode://providers":
            assert {"id": "fake", "name": "Fake", "models": ["fake"]} in data["providers"]
        if resource.uri == "opencode://config":
            assert data["provider"]["fake"]["options"]["apiKey"] == "[hidden]"
    found = await stage.tools.client.get_prompt("opencode-session-summary", {"sessionID": "ses_1"})
    assert "session ses_1" in found.messages[0].content.text  # type: ignore[union-attr]
    with pytest.raises(MCPError, match="sessionID"):
        await stage.tools.client.get_prompt("opencode-session-summary")
    with pytest.raises(MCPError, match="no resource"):
        await stage.tools.client.read_resource("opencode://nothing")
    with pytest.raises(MCPError, match="Did you mean opencode_ask"):
        await stage.tools("asks")
