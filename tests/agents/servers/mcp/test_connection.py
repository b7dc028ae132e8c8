"""Connections to programs: what a server may do, and what it may not and does."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path

import anyio
import pytest

from agents.servers.mcp.calls import Call, settle
from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.link.hold import MOST
from agents.toolkit.sandbox import probe
from tests.agents.servers.mcp.raw_server import MANY, TOOLS
from tests.agents.servers.mcp.watching import RAW, connected, connecting, is_alive, raw


async def test_a_server_is_connected_called_and_ended_with_the_connection(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert [tool.name for tool in server.connection.tools] == TOOLS
        assert server.connection.offers.version == "raw 1"
        assert await server.tool("echo") == "echo"
        pid = int(await server.tool("pid"))
    assert not is_alive(pid)
    assert server.connection.state.status == "disabled"
    with pytest.raises(ServerFailed, match="The MCP server raw is not connected"):
        await server.tool("echo")


@pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
async def test_one_that_is_confined_has_processes_of_its_own(tmp_path: Path) -> None:
    shutil.copy(RAW, tmp_path / "server.py")  # the tests may lie in a temporary folder, which is out of sight
    command = [sys.executable, "-I", "-S", "server.py"]
    async with connected(raw(command=command, sandbox=True), tmp_path) as server:
        assert await server.tool("echo") == "echo"
        assert int(await server.tool("pid")) < 10


async def test_without_a_sandbox_one_that_is_to_be_confined_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "found", lambda: probe.Found("none", words="there is none here."))
    async with connecting(raw(sandbox=True), tmp_path) as server:
        state = (await server.until_status("failed")).state
        assert 'its configuration says "sandbox", and there is none here.' in state.error


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"type": "local", "command": ["no-such-program"]}, ["cannot be started", "no-such-program is not"]),
        (raw("exits"), ["exited with code 3", "I do not want to"]),
        (raw("garbage"), ["sent 100 lines in a row that are no messages", "[no message of MCP] garbage"]),
        (raw("refuses"), ["answered with an error: not today"]),
    ],
)
async def test_a_server_that_does_not_come_up_says_why(
    tmp_path: Path, config: dict[str, object], words: list[str]
) -> None:
    async with connecting(config, tmp_path) as server:
        state = (await server.until_status("failed")).state
        assert all(word in state.error for word in words), state.error
        with pytest.raises(ServerFailed, match="is not connected"):
            await server.tool("echo")


async def test_a_server_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.servers.mcp.server.START_SECONDS", 0.2)
    async with connecting(raw("silent", timeout=100), tmp_path) as server:
        state = (await server.until_status("failed")).state
        assert "did not introduce itself within 0.2 s" in state.error


async def test_a_server_that_dies_in_a_call_ends_the_call_and_comes_back(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        before = await server.tool("pid")
        with pytest.raises(ServerFailed, match=r"went away in the middle of the call.*exited with code 7"):
            await server.tool("die")
        state = server.connection.state
        assert state.status == "failed"
        assert state.error.splitlines()[0] == "exited with code 7"
        assert state.error.splitlines()[-1] == "these are my last words"
        assert [tool.name for tool in server.connection.tools] == TOOLS  # known while it is away
        await server.until_status("connected")
        assert await server.tool("pid") != before


async def test_a_call_that_hangs_ends_in_time_and_the_server_is_told(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        with pytest.raises(ServerFailed, match=r"did not answer within 0\.1 s"):
            await server.tool("hang", 0.1)
        assert await server.tool("cancelled") == "1"
        assert server.connection.state.status == "connected"


async def test_a_call_that_is_stopped_tells_the_server(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        hanging = asyncio.create_task(server.tool("hang"))
        while await server.tool("cancelled") == "0":
            if server.connection.calls:  # of ours only the hanging one can be left
                hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert server.connection.calls == []


async def test_time_does_not_run_while_a_person_is_asked_and_begins_anew_with_progress(
    tmp_path: Path,
) -> None:
    call = Call("somebody")
    with call.held():
        call._touched -= 100
        assert call.left(5) == 5
    assert 4 < call.left(5) <= 5
    call._touched -= 100
    assert call.left(5) < 0
    call.touch()
    assert call.left(5) > 0
    async with connected(raw(), tmp_path) as server:

        async def owners(_: object) -> list[object]:
            return [one.owner for one in server.connection.calls]

        assert await server.connection.call(owners, call=call) == ["somebody"]


async def test_tools_that_change_in_the_middle_of_a_call_are_read_again(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert await server.tool("grow") == "grown"
        await server.until(lambda connection: connection.tools[-1].name == "grown")


async def test_a_message_that_is_too_long_ends_the_connection(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        with pytest.raises(ServerFailed, match="sent a line of more than 16 MB"):
            await server.tool("huge")
        await server.until_status("connected")


async def test_an_answer_that_comes_twice_is_taken_once(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert await server.tool("twice") == "first"
        assert await server.tool("echo") == "echo"


async def test_an_answer_that_is_no_json_is_waited_for_in_vain_and_noted(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        with pytest.raises(ServerFailed, match=r"did not answer within 0\.5 s"):
            await server.tool("broken", 0.5)
        assert "[no message of MCP]" in "".join(server.connection.log.lines())
        assert await server.tool("echo") == "echo"


async def test_an_answer_of_ten_megabytes_is_one(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert len(await server.tool("large")) == 10 * 1024 * 1024


async def test_a_flood_on_stderr_does_no_harm_and_is_kept_short(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert await server.tool("flood") == "flooded"
        lines = server.connection.log.lines()
        assert max(map(len, lines)) <= 2000


async def test_lines_that_are_no_messages_are_noted_and_passed_over(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert await server.tool("noise") == "after the noise"
        assert await server.tool("noise") == "after the noise"  # the count begins anew with a message
        noted = [line for line in server.connection.log.lines() if "a banner" in line]
        assert len(noted) == 10


@pytest.mark.parametrize(("how", "count"), [("many", MOST), ("round", 2), ("fat", 3)])
async def test_lists_are_read_by_pages_and_bounded(tmp_path: Path, how: str, count: int) -> None:
    assert MANY > MOST
    async with connected(raw(how), tmp_path) as server:
        assert len(server.connection.tools) == count
        assert ("left out" in "".join(server.connection.log.lines())) == (how != "round")


async def test_a_server_that_announces_what_it_does_not_serve_is_of_use(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        assert server.connection.prompts == ()
        assert "[prompts are not listed] no prompts/list" in server.connection.log.lines()


async def test_of_a_list_only_what_is_wrong_is_left_out(tmp_path: Path) -> None:
    async with connected(raw("odd"), tmp_path) as server:
        assert [tool.name for tool in server.connection.tools] == ["echo", "pid"]
        assert [prompt.name for prompt in server.connection.prompts] == ["hello"]
        assert server.connection.resources == ()
        assert await server.tool("echo") == "echo"
        said = [line for line in server.connection.log.lines() if line.startswith("[")]
    assert [line.partition("]")[0] for line in said[:4]] == [
        "[of its tools, 'no schema' is left out",
        "[of its tools, number 3 is left out",
        "[of its tools, '5' is left out",
        "[of its prompts, number 2 is left out",
    ]
    assert said[0].endswith("inputSchema: Field required")
    assert said[4].startswith("[resources are not listed]")


async def test_arguments_that_lack_the_word_object_are_one(tmp_path: Path) -> None:
    async with connected(raw("loose"), tmp_path) as server:
        schemas = [tool.input_schema for tool in server.connection.tools]
    assert schemas == [
        {"type": "object"},
        {"properties": {"a": {"type": "string"}}, "type": "object"},
        {"type": "object"},
        {"type": "object"},
        {"anyOf": [], "type": "object"},
    ]


async def test_a_server_of_2026_that_knows_nothing_older_is_followed_too(tmp_path: Path) -> None:
    async with connected(raw("modern"), tmp_path) as server:
        await server.until(lambda connection: connection.tools[-1].name == "told of")


async def test_what_is_closed_is_not_begun_anew(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        pid = int(await server.tool("pid"))
        await asyncio.gather(server.connection.restart(), server.connection.close())
        await server.connection.restart()
        assert server.connection.state.status == "disabled"
    assert not is_alive(pid)


async def test_a_restart_begins_at_once_with_nothing_known(tmp_path: Path) -> None:
    async with connected(raw(), tmp_path) as server:
        seen: list[tuple[str, int]] = []
        server.connection.changed.insert(0, lambda one, _: seen.append((one.state.status, len(one.tools))))
        await server.tool("grow")
        await server.until(lambda connection: len(connection.tools) > len(TOOLS))
        await server.connection.restart()
        await server.until(lambda connection: seen[-1] == ("connected", len(TOOLS)))
        assert seen[-2] == ("connecting", 0)
        assert json.loads(await server.tool("pid")) > 0


async def test_an_error_without_words_is_told_by_its_kind() -> None:
    async def broken() -> None:
        raise anyio.ClosedResourceError

    gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with pytest.raises(ServerFailed, match="answered with an error: ClosedResourceError"):
        await settle(broken(), gone, 10, Call())
