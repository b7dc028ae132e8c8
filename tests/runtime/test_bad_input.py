"""What goes wrong outside gets a clear message, and nothing committed is lost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Empty, StreamError, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, until


async def test_an_empty_prompt_is_refused_by_name(home: Path, project: Path) -> None:
    async with running(Server(home, project, model_config("http://127.0.0.1:9/v1"))) as client:
        session = await client.create_session()
        blank = [{"type": "text", "text": " \n "}]
        bodies: list[dict[str, Any]] = [{"parts": []}, {"parts": blank}, {"parts": "x"}, {}]
        for body in bodies:
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await client.post(f"/session/{session['id']}/prompt_async", body)
            assert refused.value.response.status_code == 400
            assert "parts" in refused.value.response.json()["data"]["message"]
        assert await client.messages(session["id"]) == []


async def fetch(client: Client, path: str) -> httpx.Response:
    """The answer, also where it is an error."""
    try:
        return await client.http.get(path)
    except httpx.HTTPStatusError as error:
        return error.response


async def test_unknown_things_are_404_and_bad_values_400(home: Path, project: Path) -> None:
    async with running(Server(home, project, model_config("http://127.0.0.1:9/v1"))) as client:
        for path, status in (
            ("/session/ses_nope", 404),
            ("/session/nope/message", 404),
            ("/session?directory=/does/not/exist", 404),
            ("/session?limit=many", 400),
            ("/find", 400),
            ("/find?pattern=%5B", 400),
            ("/file/content?path=missing.txt", 404),
            ("/file?path=hello.py", 404),
        ):
            answer = await fetch(client, path)
            assert answer.status_code == status, path
            assert answer.json()["data"]["message"], path


async def test_five_megabytes_reach_the_model_whole(home: Path, project: Path) -> None:
    text = "0123456789abcdef" * (5 * 1024 * 1024 // 16)
    async with (
        OpenAIServer([Turn(text="Long.")]) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
    ):
        session = await client.create_session()
        await client.prompt(session["id"], text)
        assert model.requests[0].body["messages"][-1]["content"] in (text, [{"type": "text", "text": text}])


async def test_a_folder_deleted_during_the_turn(home: Path, project: Path) -> None:
    script = [
        Turn(tools=[ToolUse("bash", {"command": "rm -rf ../project"})]),
        Turn(
            tools=[
                ToolUse("read", {"filePath": "hello.py"}),
                ToolUse("write", {"filePath": "new.py", "content": "x = 1\n"}),
                ToolUse("bash", {"command": "pwd"}),
            ]
        ),
        Turn(text="It is gone."),
    ]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url, lsp=True))) as client,
    ):
        session = await client.create_session()
        answer = await client.prompt(session["id"], "Clean up.", directory=str(project))
        assert answer["parts"][1]["text"] == "It is gone."
        states = [part["state"]["status"] for part in parts_of(await client.messages(session["id"]), "tool")]
        assert states[1:] == ["error"] * 3
    assert not project.exists()


@pytest.mark.parametrize("fault", [Empty(), StreamError(1, "Overloaded", "overloaded_error")])
async def test_a_stream_that_breaks_is_tried_again_and_says_so(
    home: Path, project: Path, fault: Empty | StreamError
) -> None:
    script = [Turn(text=["a", "b"], fault=fault), Turn(text="again")]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session = await client.create_session()
        await client.prompt_async(session["id"], "Go.")
        while (status := (await until(events, "session.status")).properties["status"])["type"] != "retry":
            pass
        assert status["message"]
        await until(events, "session.idle")
        assert parts_of(await client.messages(session["id"]), "text")[-1]["text"] == "again"


async def test_a_reply_after_the_turn_was_stopped_is_refused(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("bash", {"command": "touch made"})])]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"bash": "ask"})
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Go.")
            asked = await until(events, "permission.asked")
            await client.abort(session["id"])
            await until(events, "session.idle")
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await client.reply(asked.properties["id"], "once")
            assert refused.value.response.status_code == 404
            assert not (project / "made").exists()


async def test_hostile_names_and_bytes_survive_the_whole_way(home: Path, project: Path) -> None:
    names = ["<script>alert(1)", 'quo"te', "new\nline"]
    write = " && ".join(f"printf x > $'{name}'".replace("\n", "\\n") for name in names)
    command = f"{write} && printf 'a\\xff\\x1b[31mred\\x00' && printf x > $'bad\\xff'"
    script = [Turn(tools=[ToolUse("bash", {"command": command})]), Turn(text="Done.")]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
    ):
        session = await client.create_session()
        await client.prompt(session["id"], "Go.")
        history = await client.messages(session["id"])
        (part,) = parts_of(history, "tool")
        assert part["state"]["status"] == "completed"
        assert "red" in part["state"]["output"]
        diffs = await client.diff(session["id"], history[0]["info"]["id"])
        assert {*names, "bad\ufffd"} == {diff["file"] for diff in diffs}
        await client.revert(session["id"], history[0]["info"]["id"])
        assert sorted(path.name for path in project.iterdir()) == [".git", "hello.py"]


async def test_a_broken_configuration_file_is_named_and_the_rest_goes_on(home: Path, project: Path) -> None:
    (project / "opencode.json").write_text('{\n  "model": "x/y",\n  oops\n}')
    script = [Turn(tools=[ToolUse("bash", {"command": "true"})])]
    async with OpenAIServer(script) as model:
        config = {key: value for key, value in model_config(model.base_url).items() if key != "permission"}
        server = Server(home, project, config)
        async with running(server) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Go.")
            asked = await until(events, "permission.asked")
            assert asked.properties["permission"] == "bash", "rules that cannot be read must not be looser"
            await client.abort(session["id"])
        assert "opencode.json:3" in server.log()


async def test_an_unknown_model_is_an_error_and_never_the_demo(home: Path, project: Path) -> None:
    config = model_config("http://127.0.0.1:9/v1") | {"model": "fake/other"}
    async with running(Server(home, project, config)) as client:
        session = await client.create_session()
        answer = await client.prompt(session["id"], "Go.")
        assert "fake/other" in answer["info"]["error"]["data"]["message"]


async def test_what_cannot_be_opened_is_refused_at_the_door(home: Path, tmp_path: Path) -> None:
    shutil.copy(__file__, tmp_path / "file")
    for path in (tmp_path / "missing", tmp_path / "file", Path("/")):
        with pytest.raises(RuntimeError, match=str(path)):
            Server(home, path).start()
