"""Windows that are small or full: pruning, no loop of compactions, output that is kept in files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, HttpError, Script, TokenUsage, ToolUse, Turn
from tests.runtime.test_compaction import SUMMARY, infos, is_compaction, said
from tests.server import Server, model_config, parts_of, running, serving, until

CLEARED = "[Old tool result content cleared]"
TOO_LONG = HttpError(400, "maximum context length is 4096 tokens, you requested 5000")
FULL = TokenUsage(input=195_000)


def small_window(base_url: str) -> dict[str, Any]:
    config = model_config(base_url)
    config["provider"]["fake"]["models"]["fake"]["limit"] = {"context": 4096, "output": 8192}
    return config


def outputs(count: int) -> list[ToolUse]:
    """Calls with 48 KB of output each, 12,000 tokens."""
    command = 'python3 -c \'print(("%d " + 99 * "x" + chr(10)) * 470)\''
    return [ToolUse("bash", {"command": command % number}) for number in range(count)]


async def prompts(home: Path, project: Path, script: Script, config: Any, count: int) -> tuple[Any, Any]:
    """The history and the requests after so many prompts."""
    async with OpenAIServer(script) as model:
        server = Server(home, project, config(model.base_url))
        async with running(server) as client:
            session = await client.create_session("named")
            for number in range(count):
                await client.prompt(session["id"], f"Prompt {number}.")
            return await client.messages(session["id"]), model.requests


@pytest.mark.parametrize("on", [True, False])
async def test_old_output_is_pruned_at_the_end_of_a_drain(home: Path, project: Path, on: bool) -> None:
    script = [Turn(tools=outputs(6)), *[Turn(text="Done.")] * 4]
    history, requests = await prompts(
        home, project, script, lambda url: model_config(url, compaction={"prune": on}), 4
    )
    cleared = [part for part in parts_of(history, "tool") if part["state"]["time"].get("compacted")]
    assert len(cleared) == (3 if on else 0)
    assert all(len(part["state"]["output"]) > 40_000 for part in parts_of(history, "tool"))
    assert CLEARED not in said(requests[3].body), "two turns are protected"
    assert said(requests[4].body).count(CLEARED) == (3 if on else 0)


async def test_pruning_may_save_a_compaction(home: Path, project: Path) -> None:
    script = [Turn(tools=outputs(6)), Turn(text="One."), Turn(text="Two.", usage=FULL), Turn(text="Three.")]
    history, requests = await prompts(home, project, script, model_config, 3)
    assert parts_of(history, "compaction") == []
    assert said(requests[3].body).count(CLEARED) == 3


async def test_what_pruning_cannot_save_is_compacted(home: Path, project: Path) -> None:
    over = TokenUsage(input=250_000)
    script = [Turn(tools=outputs(6)), Turn(text="1."), Turn(text="2.", usage=over), Turn(text=SUMMARY)]
    history, requests = await prompts(home, project, [*script, Turn(text="Three.")], model_config, 3)
    assert is_compaction(requests[3].body)
    assert CLEARED in said(requests[3].body)
    assert parts_of(history, "compaction")[0]["metadata"]["before"] < 250_000
    assert parts_of(history[-1:], "text")[0]["text"] == "Three."


async def test_a_first_request_that_does_not_fit_four_thousand_tokens(home: Path, project: Path) -> None:
    history, requests = await prompts(home, project, [Turn(fault=TOO_LONG)], small_window, 1)
    error = history[-1]["info"]["error"]
    assert error["name"] == "ContextOverflowError"
    assert "4,096" in error["data"]["message"]
    assert "1,024" in error["data"]["message"]
    assert "maximum context length" in error["data"]["message"]
    assert len(requests) == 1
    assert len(history) == 2


async def test_a_context_that_stays_too_large_ends_with_the_numbers(home: Path, project: Path) -> None:
    usage = TokenUsage(input=3500)
    call = ToolUse("read", {"filePath": "hello.py"})

    def script(body: Body) -> Turn:
        return Turn(text=SUMMARY) if is_compaction(body) else Turn(tools=[call], usage=usage)

    history, requests = await prompts(home, project, script, small_window, 1)
    assert len(infos(history, summary=True)) == 1
    assert (
        "even right after it was compacted (3,505 tokens)" in history[-1]["info"]["error"]["data"]["message"]
    )
    assert len(requests) == 3


async def test_compactions_with_hardly_a_step_between_end(home: Path, project: Path) -> None:
    """Each step reads what never fits."""
    fits = [True]

    def script(body: Body) -> Turn:
        if is_compaction(body):
            fits[0] = True
            return Turn(text=SUMMARY)
        if not fits[0]:
            return Turn(fault=TOO_LONG)
        fits[0] = False
        return Turn(tools=[ToolUse("read", {"filePath": "hello.py"})])

    history, _ = await prompts(home, project, script, small_window, 1)
    assert len(infos(history, summary=True)) == 3
    assert history[-1]["info"]["error"]["name"] == "ContextOverflowError"


async def test_a_summary_is_asked_for_within_a_small_window(home: Path, project: Path) -> None:
    def script(body: Body) -> Turn:
        if is_compaction(body):
            return Turn(text=SUMMARY)
        return Turn(text="word " * 3000, usage=TokenUsage(input=400, output=3000))

    _, requests = await prompts(home, project, script, small_window, 2)
    asked = requests[1].body
    assert is_compaction(asked)
    assert len(said(asked)) + len(str(asked["messages"])) < 2 * 4 * 4096
    assert asked["max_tokens"] == 1024


@pytest.mark.proc
async def test_output_is_bounded_as_configured_and_the_rest_can_be_read(home: Path, project: Path) -> None:
    script: list[Turn] = [Turn(tools=[ToolUse("bash", {"command": "seq 1 5000"})])]

    def play(body: Body) -> Turn:
        if script:
            return script.pop()
        kept = next(iter((home / ".local/share/opencode-web/tool-output").glob("tool_*")), None)
        if kept is None or "4321" in said(body):
            return Turn(text="Done.")
        grep = ToolUse("grep", {"pattern": "^4321$", "path": str(kept)})
        folder = ToolUse("grep", {"pattern": "^4321$", "path": str(kept.parent)})
        glob = ToolUse("glob", {"pattern": "tool_*", "path": str(kept.parent)})
        read = ToolUse("read", {"filePath": str(kept), "offset": 4321, "limit": 1})
        return Turn(tools=[grep, folder, glob, read])

    async with serving(
        home,
        project,
        play,
        tool_output={"max_lines": 40},
        permission={"*": "allow", "external_directory": "deny"},
    ) as (client, _):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Count.")
        first, *others = parts_of(await client.messages(session["id"]), "tool")
        assert len(first["state"]["output"].splitlines()) <= 40
        assert first["state"]["metadata"]["truncated"] is True
        path = Path(first["state"]["metadata"]["outputPath"])
        assert path.read_text().splitlines()[4320] == "4321"
        assert str(path) in first["state"]["output"]
        assert [part["state"]["status"] for part in others] == ["completed"] * 4
        assert all("4321" in part["state"]["output"] for part in (others[0], others[1], others[3]))
        assert path.name in others[2]["state"]["output"]


async def test_output_that_cannot_be_kept_does_not_fail_the_tool(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("bash", {"command": "seq 1 5000"})]), Turn(text="Done.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        async with running(server) as client, client.events() as events:
            (server.data / "tool-output").rmdir()
            (server.data / "tool-output").write_text("a file is in the way")
            session = await client.create_session("named")
            await client.prompt_async(session["id"], "Count.")
            await until(events, "session.idle")
            history = await client.messages(session["id"])
        tools = parts_of(history, "tool")
        assert len(tools) == 1, f"{history}\n{await asyncio.to_thread(server.log)}"
        (part,) = tools
        assert part["state"]["status"] == "completed"
        assert "could not be kept" in part["state"]["output"]
        assert "outputPath" not in part["state"]["metadata"]
        assert "was not kept" in await asyncio.to_thread(server.log)
