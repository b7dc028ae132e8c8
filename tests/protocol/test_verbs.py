"""The command line beside a running server: OpenCode's verbs, on the same rows."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.loopback.script import HttpError, ToolUse, Turn, Wait
from tests.protocol.served import Served
from tests.server import PASSWORD, PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECONDS = 60


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


async def cli(
    served: Served, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
) -> Done:
    """One command in the project's folder, with the server's home and settings."""
    done = await asyncio.to_thread(served.server.command, *arguments, stdin=stdin, environ=environ)
    return Done(done.returncode, done.stdout, done.stderr)


async def run(served: Served, *arguments: str, stdin: str = "") -> Done:
    return await cli(served, "run", "--attach", served.server.url, "-p", PASSWORD, *arguments, stdin=stdin)


async def test_a_prompt_and_what_is_piped_in(served: Served) -> None:
    served.plays(Turn(text=["Hello", " there."]))
    done = await run(served, "--title", "From a terminal", "Say", "hello", stdin="to these:\nall\n")
    assert (done.status, done.out) == (0, "Hello there.\n")
    listed = json.loads((await cli(served, "session", "list", "--format", "json")).out)
    made = next(row for row in listed if row["title"] == "From a terminal")
    messages = await served.get(f"/session/{made['id']}/message")
    assert messages[0]["parts"][0]["text"] == "Say hello\nto these:\nall\n"
    served.plays(Turn(text="Again."))
    again = await run(served, "--session", made["id"], "--agent", "plan", "Once more")
    assert again.out == "Again.\n"
    messages = await served.get(f"/session/{made['id']}/message")
    assert [entry["info"]["agent"] for entry in messages] == ["build", "build", "plan", "plan"]
    served.plays(Turn(text="In a copy."))
    assert (await run(served, "--continue", "--fork", "And a copy")).out == "In a copy.\n"
    assert len(await served.get(f"/session/{made['id']}/message")) == 4
    deleted = await cli(served, "session", "delete", made["id"])
    assert deleted.out.startswith(f"Deleted {made['id']}")
    await served.ask("GET", f"/session/{made['id']}", status=404)


async def test_nobody_is_there_to_be_asked(served: Served) -> None:
    touch = ToolUse("bash", {"command": "touch new.txt", "description": "Asks"})
    served.plays(Turn(tools=[touch]), Turn(text="Done."))
    done = await run(served, "Make it.")
    assert "permission requested: bash (touch new.txt); rejected" in done.err
    assert "nobody was there to allow bash (touch new.txt)" in done.err.splitlines()[-1]
    assert done.status == 1
    assert not (served.server.project / "new.txt").exists()
    served.plays(Turn(tools=[touch, ToolUse("bash", {"command": "touch b.txt", "description": "Too"})]))
    done = await run(served, "Make both.")
    assert done.status == 1
    assert "nobody was there to allow bash (touch " in done.err.splitlines()[-1]
    served.plays(Turn(tools=[touch]), Turn(text="Done."))
    done = await run(served, "--auto", "Make it.")
    assert "allowed" in done.err
    assert done.status == 0
    assert "| bash" in done.err
    assert done.out == "Done.\n"
    (served.server.project / "new.txt").unlink()


async def test_a_limit_holds_where_nobody_is_there(served: Served) -> None:
    calls = [ToolUse("list", {}), ToolUse("glob", {"pattern": "*"})]
    (served.server.project / "opencode.json").write_text('{"limits": {"calls": {"*": 1}}}')
    try:
        served.plays(*(Turn(tools=[call]) for call in calls), Turn(text="So far."))
        done = await run(served, "--auto", "Look.")
    finally:
        (served.server.project / "opencode.json").unlink()
    assert "permission requested: limit (calls of *); rejected" in done.err
    assert (done.status, done.out) == (0, "So far.\n")


async def test_raw_events_and_hostile_text(served: Served) -> None:
    hostile = "\x1b]0;title\x07\x1b[31mred\n"
    served.plays(Turn(text=hostile, reasoning=["Thinking"]))
    done = await run(served, "--format", "json", "Say it.")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["type"] for line in lines] == ["step_start", "reasoning", "text", "step_finish"]
    assert lines[2]["part"]["text"].startswith("\x1b]0;title")
    served.plays(Turn(text=hostile, reasoning=["Thinking"]))
    done = await run(served, "--thinking", "Say it.")
    assert done.out.strip() == "]0;title[31mred"
    assert "Thinking" in done.err


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["--session", "ses_nothing", "Hi"], 1, "Session not found"),
        (["--model", "nothing", "Hi"], 2, "opencode-web models"),
        (["--model", "fake/unknown", "Hi"], 2, "no model 'fake/unknown'"),
        (["--command", "nothing", "Hi"], 2, "no command 'nothing'"),
        (["--file", "nothing.txt", "Hi"], 2, "no file 'nothing.txt'"),
        (["--fork", "Hi"], 2, "--continue or --session"),
        (["--resume"], 2, "--resume takes --continue or --session"),
        (["--continue", "--resume", "Hi"], 2, "no message, command"),
        (["--check", "true", "Hi"], 2, "take --goal"),
        (["--goal", "--command", "init", "Hi"], 2, "no command and no file"),
        ([], 2, "no message"),
    ],
)
async def test_what_cannot_be_run(served: Served, arguments: list[str], status: int, told: str) -> None:
    before = await served.get("/session")
    done = await run(served, *arguments)
    assert done.status == status
    assert told in done.err
    assert "Traceback" not in done.err
    assert await served.get("/session") == before


async def test_a_goal_is_worked_at_until_it_is_reached(served: Served) -> None:
    served.plays(Turn(text="I tried."), Turn(text='{"verdict": "done", "reason": "It is so."}'))
    done = await run(served, "--goal", "--check", "true", "Reach it.")
    assert (done.status, done.out) == (0, "I tried.\n")
    served.plays(Turn(text="I tried."), Turn(text='{"verdict": "go_on", "reason": "Not yet."}'))
    done = await run(served, "--goal", "--check", "false", "--turns", "1", "Reach it.")
    assert done.status == 1
    assert "the goal is spent: Its budget is used up: 1 turn." in done.err


async def test_schedules_are_listed_run_and_paused(served: Served) -> None:
    body = {"name": "Look", "prompt": "Look around.", "when": {"kind": "hook"}}
    made = (await served.http.post("/schedule", json=body)).json()
    served.plays(Turn(text="I looked."))
    done = await cli(served, "schedule", "run", "Look")
    assert (done.status, done.out) == (0, "Begins: Look\n"), done.err
    async with asyncio.timeout(PATIENCE):
        while (await served.http.get(f"/schedule/{made['id']}/runs")).json()[0]["state"] != "done":
            pass
    done = await cli(served, "schedule", "pause", made["id"])
    assert done.status == 0, done.err
    done = await cli(served, "schedule", "list")
    assert done.out.splitlines()[-1].split() == [made["id"], "Look", "paused", "done"]
    done = await cli(served, "schedule", "resume", "Look")
    assert done.out == "Goes on: Look\n"
    done = await cli(served, "schedule", "run", "Nothing")
    assert (done.status, "no schedule" in done.err) == (1, True)
    await served.http.delete(f"/schedule/{made['id']}")


async def compare(served: Served, *arguments: str) -> Done:
    given = ("--attach", served.server.url, "-p", PASSWORD, "--at-once", "1", *arguments)
    return await cli(served, "compare", *given)


async def comparisons(served: Served, path: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await served.http.get(f"/comparison{path}")).raise_for_status().json()
    return found


async def clean(served: Served) -> None:
    """The worktrees of the newest comparison go."""
    newest = (await comparisons(served))[0]["id"]
    seen = {one["attempt"]: one["key"] for one in await comparisons(served, f"/{newest}/left")}
    (await served.http.post(f"/comparison/{newest}/clean", json={"seen": seen})).raise_for_status()


async def test_a_prompt_is_tried_several_ways(served: Served) -> None:
    write = ToolUse("write", {"filePath": "tried.txt", "content": "tried\n"})
    judged = {"best": 1, "reason": "It wrote it.", "attempts": [{"number": 2, "words": "\x1b[31mNothing."}]}
    turns = (Turn(tools=[write]), Turn(text="I wrote it."), Turn(text="I did nothing."))
    served.plays(*turns, Turn(text=json.dumps(judged)))
    done = await compare(
        served, "--times", "2", "--check", "file: tried.txt", "--format", "json", "Write it."
    )
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert (found["best"], found["words"], found["prompt"]) == (1, "It wrote it.", "Write it.")
    assert [one["checks"][0]["passed"] for one in found["attempts"]] == [True, False]
    assert "| 1  fake/fake  measured" in done.err
    await clean(served)
    served.plays(*turns, Turn(text=json.dumps(judged)))
    models = ("--model", "fake/fake", "--model", "fake/fake")
    done = await compare(served, *models, "--check", "false", "Write it.")
    assert done.status == 1
    assert "no attempt is as it was wanted" in done.err
    assert "1*  fake/fake  build  in order  0/1" in done.out
    assert "2: [31mNothing." in done.out
    assert "The judge: It wrote it." in done.out
    await clean(served)


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, "no message"),
        (["Hi"], 1, "2 to 12 attempts"),
        (["--model", "nothing", "Hi"], 2, "is no model"),
        (["--model", "fake/unknown", "--times", "2", "Hi"], 1, "unknown"),
        (["--model", "fake/fake#none", "--times", "2", "Hi"], 1, "no variant none"),
        (["--agent", "nobody", "--times", "2", "Hi"], 1, "no agent nobody"),
        (["--judge", "fake/unknown", "--times", "2", "Hi"], 1, "unknown"),
    ],
)
async def test_what_is_not_compared(served: Served, arguments: list[str], status: int, told: str) -> None:
    before = await comparisons(served)
    done = await compare(served, *arguments)
    assert (done.status, "Traceback" in done.err) == (status, False)
    assert told in done.err
    assert await comparisons(served) == before


@pytest.mark.parametrize(
    ("agent", "told"),
    [("general", "is a subagent"), ("nobody", "does not exist"), ("title", "does not exist")],
)
async def test_an_agent_that_cannot_answer_leaves_it_to_the_default(
    served: Served, agent: str, told: str
) -> None:
    served.plays(Turn(text="By default."))
    done = await run(served, "--agent", agent, "--title", f"To {agent}", "Hi")
    assert (done.status, done.out) == (0, "By default.\n")
    assert told in done.err
    [made] = [row for row in await served.get("/session") if row["title"] == f"To {agent}"]
    messages = await served.get(f"/session/{made['id']}/message")
    assert [entry["info"]["agent"] for entry in messages] == ["build", "build"]


async def test_a_turn_that_fails_fails_the_command(served: Served) -> None:
    served.plays(Turn(fault=HttpError(401, "no such key")))
    done = await run(served, "Hi")
    assert done.status == 1
    assert "no such key" in done.err


async def test_interrupting_stops_the_turn_which_can_go_on(served: Served) -> None:
    served.plays(Turn(text=["Working", Wait("never")]), Turn(text="And done."))
    process = served.server.run("run", "--attach", served.server.url, "-p", PASSWORD, "Hi")
    assert process.stdout is not None
    assert await asyncio.to_thread(process.stdout.read, 7) == "Working"
    process.send_signal(signal.SIGINT)
    assert await asyncio.to_thread(process.wait, SECONDS) == 130
    async with asyncio.timeout(SECONDS):
        while await served.get("/session/status") != {}:  # it was told to stop, and does
            pass
    done = await run(served, "--continue", "--resume")
    assert (done.status, done.out) == (0, "And done.\n")
    done = await run(served, "--continue", "--resume")
    assert (done.status, done.out) == (1, "")
    assert "no turn here" in done.err


async def test_models_and_agents(served: Served) -> None:
    assert "fake/fake" in (await cli(served, "models")).out.splitlines()
    described = (await cli(served, "models", "fake", "--verbose")).out
    assert json.loads(described.partition("\n")[2])["limit"]["context"] == 200_000
    assert (await cli(served, "models", "nothing")).status == 1
    made = await cli(
        served, "agent", "create", "--description", "Reviews: all of it", "--permissions", "read,grep"
    )
    path = served.server.project / ".opencode" / "agents" / "reviews-all-of-it.md"
    assert made.out.strip() == str(path)
    try:
        assert "reviews-all-of-it (all)" in (await cli(served, "agent", "list")).out
        again = await cli(served, "agent", "create", "--description", "Reviews: all of it")
        assert (again.status, "exists already" in again.err) == (1, True)
        for named in (".opencode", ".opencode/agents"):
            there = await cli(
                served, "agent", "create", "--path", named, "--description", "Reviews: all of it"
            )
            assert f"{path} exists already" in there.err
        wrong = await cli(served, "agent", "create", "--description", "x", "--permissions", "fly")
        assert "unknown permissions: fly" in wrong.err
    finally:
        path.unlink()
        path.parent.rmdir()


async def test_an_argument_that_is_no_text_is_told(served: Served) -> None:
    done = await cli(served, "export", os.fsdecode(b"\xff"))
    assert (done.status, done.err) == (1, r"opencode-web: '\udcff' is no text in UTF-8" + "\n")


async def test_statistics_and_what_the_program_sees(served: Served) -> None:
    session = await served.session("Counted")
    served.plays(Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Read."))
    await served.client.prompt(session, "Read it.")
    told = (await cli(served, "stats", "--models", "--project", "")).out
    assert "read" in told
    assert "fake/fake" in told
    config = json.loads((await cli(served, "debug", "config")).out)
    assert config["provider"]["fake"]["options"]["apiKey"] != "x"
    assert json.loads((await cli(served, "debug", "agent", "build")).out)["name"] == "build"
    assert str(served.server.data) in (await cli(served, "debug", "paths")).out
    assert (await cli(served, "debug", "agent", "nobody")).status == 1


async def test_keys_are_kept_and_forgotten(served: Served) -> None:
    added = await cli(served, "auth", "login", "-p", "mistral", stdin="a-key-of-mistral-1234\n")
    assert (added.status, added.out) == (0, "mistral is connected\n")
    listed = (await cli(served, "auth", "list")).out
    assert "mistral" in listed
    assert "…1234" in listed
    assert "a-key-of" not in listed
    assert "mistral" in (await served.get("/provider"))["connected"]
    assert (await cli(served, "auth", "logout", "mistral")).status == 0
    assert (await cli(served, "auth", "logout", "mistral")).status == 1
    empty = await cli(served, "auth", "login", "-p", "mistral", stdin="\n")
    assert (empty.status, "empty" in empty.err) == (1, True)
    unsaid = await cli(served, "auth", "login", stdin="key\n")
    assert unsaid.status == 2


async def test_mcp_servers_are_configured(served: Served) -> None:
    path = served.server.project / "opencode.json"
    command = ["mcp", "add", "files", "--env", "KEY=value", "--", "server", "--root", "."]
    assert (await cli(served, *command)).out == "files is configured\n"
    try:
        written = json.loads(path.read_text())["mcp"]["files"]
        assert written == {
            "type": "local",
            "command": ["server", "--root", "."],
            "environment": {"KEY": "value"},
        }
        assert "server --root ." in (await cli(served, "mcp", "list")).out
        assert "files" in await served.get("/mcp")
        assert (await cli(served, "mcp", "add", "nothing")).status == 2
        wrong = await cli(served, "mcp", "add", "x", "--url", "http://127.0.0.1:1", "--header", "secret")
        assert wrong.status == 2
        wrong = await cli(served, "mcp", "add", "x", "--url", "ftp://x")
        assert (wrong.status, "http://" in wrong.err) == (2, True)
        assert json.loads(path.read_text())["mcp"].keys() == {"files"}
    finally:
        path.unlink(missing_ok=True)
