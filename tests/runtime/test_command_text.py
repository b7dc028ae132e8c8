"""What a command's text is made of, in whole turns: arguments, shell lines that ask, files, and a crash."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import httpx
import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import HttpError, Turn
from tests.processes import noted
from tests.runtime.command_stage import ASK, asking, sent
from tests.server import Server, model_config, parts_of, running, serving, until


async def test_arguments_files_and_shell_output_reach_the_model(home: Path, project: Path) -> None:
    template = "Greet $1, then $2. See @hello.py and @nowhere. It says !`echo $1 | tr a-z A-Z`!"
    command = {"greet": {"template": template, "description": "Greets"}}
    async with serving(home, project, [Turn(text="Done.")], command=command) as (client, model):
        session = await client.create_session(title="named")
        body = {"command": "greet", "arguments": "'Ann Lee' Bob and all"}
        answer = await client.post(f"/session/{session['id']}/command", body)
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Done."]
        said = sent(model.requests[0].body)
        assert "Greet Ann Lee, then Bob and all. See @hello.py and @nowhere. It says ANN LEE!" in said
        assert "return 'hello'" in said
        history = await client.messages(session["id"])
        shown = [part["text"] for part in parts_of(history, "text") if not part.get("synthetic")]
        assert shown == ["/greet 'Ann Lee' Bob and all", "Done."]
        assert [part["tool"] for part in parts_of(history, "tool")] == ["bash", "read"]


async def test_the_text_is_put_together_once_and_stays(home: Path, project: Path) -> None:
    """Retries and later turns send the same bytes, and what was included is no message of its own."""
    script = [
        Turn(fault=HttpError(429, headers={"retry-after-ms": "1"})),
        Turn(text="One."),
        Turn(text="Two."),
    ]
    command = {"count": {"template": "Count: !`echo x >> counted; wc -l < counted`"}}
    async with serving(home, project, script, command=command) as (client, model):
        session = await client.create_session(title="named")
        await client.post(f"/session/{session['id']}/command", {"command": "count", "arguments": ""})
        await client.prompt(session["id"], "And now?")
        first, again, later = (request.body["messages"] for request in model.requests)
        assert first == again == later[: len(first)]
        assert "Count: 1" in sent(model.requests[0].body)
        assert [message["role"] for message in later][-3:] == ["user", "assistant", "user"]
        assert (project / "counted").read_text() == "x\n"


async def test_a_shell_line_asks_as_bash_does_and_what_it_changed_is_undone(
    home: Path, project: Path
) -> None:
    async with asking(home, project, "Made !`touch $1; echo it`.") as stage:
        answer = stage.go("a;b")
        asked = await until(stage.events, "permission.asked")
        assert asked.properties["permission"] == "bash"
        assert asked.properties["metadata"]["command"] == "touch 'a;b'; echo it"
        assert not stage.model.requests
        await stage.client.reply(asked.properties["id"], "once")
        await answer
        assert "Made it." in sent(stage.model.requests[0].body)
        assert (project / "a;b").exists()
        history = await stage.history()
        await stage.client.revert(stage.session, history[0]["info"]["id"])
        assert not (project / "a;b").exists()


@pytest.mark.parametrize(("words", "expected"), [(None, "You rejected it"), ("use make", "use make")])
async def test_a_rejected_shell_line_ends_the_turn_and_loses_nothing(
    home: Path, project: Path, words: str | None, expected: str
) -> None:
    async with asking(home, project, "Made !`touch made`.") as stage:
        answer = stage.go("with words")
        asked = await until(stage.events, "permission.asked")
        await stage.client.reply(asked.properties["id"], "reject", words)
        message = (await answer)["info"]["error"]["data"]["message"]
        assert message.startswith("/go was not carried out.")
        assert expected in message
        assert "touch made" in message
        assert not stage.model.requests
        assert not (project / "made").exists()
        assert parts_of(await stage.history(), "text")[0]["text"] == "/go with words"
        assert await stage.client.status() == {}
        await stage.client.prompt(stage.session, "Never mind.")
        assert "Never mind." in sent(stage.model.requests[0].body)


async def test_a_denied_shell_line_is_not_run(home: Path, project: Path) -> None:
    async with asking(home, project, "Made !`touch made`.", permission={"bash": "deny"}) as stage:
        assert "deny this call" in (await stage.go())["info"]["error"]["data"]["message"]
        assert not stage.model.requests
        assert not (project / "made").exists()


async def test_a_shell_line_that_fails_is_told_with_its_exit_status(home: Path, project: Path) -> None:
    async with asking(home, project, "See: !`echo broken >&2; exit 3`.", permission={"*": "allow"}) as stage:
        await stage.go()
        assert "See: broken\n\n[Exit code 3]." in sent(stage.model.requests[0].body)


async def test_a_shell_line_that_hangs_is_stopped_with_the_turn(home: Path, project: Path) -> None:
    os.mkfifo(project / "pipe")
    template = "!`echo $$ > pid; echo begun; cat pipe`"
    async with asking(home, project, template, permission={"*": "allow"}) as stage:
        answer = stage.go()
        while True:
            event = await until(stage.events, "message.part.updated")
            state = event.properties["part"].get("state", {})
            if "begun" in (state.get("metadata") or {}).get("output", ""):
                break
        assert state["input"]["timeout"] == 30_000
        await stage.client.abort(stage.session)
        assert (await answer)["info"]["error"]["name"] == "MessageAbortedError"
        assert not noted(project / "pid")
        assert not stage.model.requests


async def test_a_hostile_template_does_not_read_outside_of_the_project_unasked(
    home: Path, project: Path
) -> None:
    (project.parent / "secret").write_text("hidden words")
    async with asking(home, project, "Read @../secret now.") as stage:
        answer = stage.go()
        asked = await until(stage.events, "permission.asked")
        assert asked.properties["permission"] == "external_directory"
        await stage.client.reply(asked.properties["id"], "reject")
        assert "/go was not carried out" in (await answer)["info"]["error"]["data"]["message"]
        assert not stage.model.requests


async def test_a_file_that_cannot_be_read_is_told_and_the_turn_goes_on(home: Path, project: Path) -> None:
    (project / "data.bin").write_bytes(bytes(range(256)))
    async with asking(home, project, "Read @data.bin and @hello.py.") as stage:
        await stage.go()
        said = sent(stage.model.requests[0].body)
        assert "[@data.bin is not included. data.bin is a binary file" in said
        assert "return 'hello'" in said


async def test_a_crash_while_a_shell_line_asks_leaves_nothing_open(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text="One.")]) as model:
        config = model_config(model.base_url, command={"go": {"template": "!`touch made`"}}, **ASK)
        server = Server(home, project, config)
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            call = asyncio.create_task(
                client.post(f"/session/{session}/command", {"command": "go", "arguments": "x"})
            )
            await until(events, "permission.asked")
            server.kill()
            with pytest.raises(httpx.HTTPError):
                await call
        async with running(server) as client:
            answer = await client.prompt(session, "Still there?")
            assert answer["info"].get("error") is None
            history = await client.messages(session)
            (part,) = parts_of(history, "tool")
            assert part["state"]["status"] == "error"
            assert parts_of(history, "text")[0]["text"] == "/go x"
            assert not (project / "made").exists()
