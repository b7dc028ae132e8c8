"""Commands in whole turns: how they are called, for whom, what is refused, told and listed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.toolkit.definitions import prompt_text
from tests.agents.toolkit.skills.conftest import write_skill
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.command_stage import asking, sent
from tests.runtime.trusting import write
from tests.server import Server, model_config, parts_of, running, serving, until


async def test_agent_and_model_of_a_command_are_for_its_prompt_only(home: Path, project: Path) -> None:
    async with OpenAIServer([Turn(text="One."), Turn(text="Two.")]) as model:
        entry = {"template": "Plan it.", "agent": "plan", "model": "fake/other"}
        config = model_config(model.base_url, command={"go": entry})
        models = config["provider"]["fake"]["models"]
        models["other"] = models["fake"]
        async with running(Server(home, project, config)) as client:
            session = await client.create_session(title="named")
            body = {"command": "go", "arguments": "", "agent": "build", "model": "fake/fake"}
            answer = await client.post(f"/session/{session['id']}/command", body)
            assert (answer["info"]["agent"], answer["info"]["modelID"]) == ("plan", "other")
            assert "agent" not in await client.session(session["id"])
            answer = await client.prompt(session["id"], "Go on.")
            assert (answer["info"]["agent"], answer["info"]["modelID"]) == ("build", "fake")
            assert [request.body["model"] for request in model.requests] == ["other", "fake"]


@pytest.mark.parametrize("entry", [{"subtask": True}, {"agent": "general"}])
async def test_a_command_for_a_subagent_becomes_an_errand(
    home: Path, project: Path, entry: dict[str, Any]
) -> None:
    entry |= {"description": "Look around"}
    config = {"permission": {"*": "allow"}, "entry": entry}
    async with asking(home, project, "Find $1: !`echo everywhere`.", **config) as stage:
        await stage.go("it")
        history = await stage.history()
        (errand,) = parts_of(history, "subtask")
        assert errand["prompt"] == "Find it: everywhere."
        assert (errand["agent"], errand["command"], errand["description"]) == ("general", "go", "Look around")
        assert [part["tool"] for part in parts_of(history, "tool")] == ["bash", "task"]
        child, parent = (request.body["messages"] for request in stage.model.requests)
        assert "Find it: everywhere." in str(child[-1])
        assert (parent[-1]["role"], "One." in str(parent[-1])) == ("tool", True)


async def test_a_command_can_steer_a_turn_and_be_edited_while_it_waits(home: Path, project: Path) -> None:
    script = [Turn(gate="first", tools=[ToolUse("list", {})]), Turn(text="Two.")]
    commands = {"go": {"template": "Go to $ARGUMENTS."}}
    async with serving(home, project, script, command=commands) as (client, model), client.events() as events:
        session = (await client.create_session(title="named"))["id"]
        await client.prompt_async(session, "Begin.")
        await model.wait_for_request(1)
        project_id = (await client.session(session))["projectID"]
        page = {"session": session, "name": "go", "arguments": "the moon", "delivery": "steer"}
        headers = {"HX-Request": "true"}
        assert (await client.http.post("/pickers/command", data=page, headers=headers)).status_code == 204
        shown = (await client.http.get(f"/p/{project_id}/s/{session}")).text
        (waiting,) = set(re.findall(r"/inbox/msg_\w+", shown))
        edit = f"/p/{project_id}/s/{session}{waiting}/edit"
        await client.http.post(edit, data={"text": "/go the sun"}, headers=headers)
        model.gate("first").open()
        await until(events, "session.idle")
        assert "Go to the sun." in sent(model.requests[1].body)


async def test_the_composer_calls_commands_by_form(home: Path, project: Path) -> None:
    """A new session is made only for a prompt that is admitted; what was picked is the session's choice."""
    async with asking(home, project, "Do $1 with $2.", entry={"agent": "plan"}) as stage:
        http, headers = stage.client.http, {"HX-Request": "true"}
        project_id = (await stage.client.session(stage.session))["projectID"]
        form = {"session": "", "project": project_id, "name": "go", "arguments": "one", "agent": "build"}
        for change, status, words in [
            ({}, 422, "/go: Argument $2 is missing"),
            ({"file": "no json"}, 422, "damaged"),
            ({"project": "none"}, 404, ""),
        ]:
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await http.post("/pickers/command", data=form | change, headers=headers)
            assert refused.value.response.status_code == status
            assert words in refused.value.response.text
        unknown = await http.post("/pickers/command", data=form | {"name": "<b>"}, headers=headers)
        assert (unknown.status_code, unknown.headers["HX-Trigger"]) == (204, '{"unknown": true}')
        assert len(await stage.client.sessions()) == 1
        arguments = {"arguments": "this\r\n that"}
        answer = await http.post("/pickers/command", data=form | arguments, headers=headers)
        made = answer.headers["HX-Redirect"].rsplit("/", 1)[1]
        await until(stage.events, "session.idle", sessionID=made)
        assert "Do this with that." in sent(stage.model.requests[0].body)
        assert (await stage.client.session(made))["agent"] == "build"
        assert (await stage.client.messages(made))[-1]["info"]["agent"] == "plan"


async def test_the_composer_completes_commands(home: Path, project: Path) -> None:
    entry = {"description": "<i>Goes</i>"}
    async with asking(home, project, "Do it.", entry=entry) as stage:
        place = {"session": stage.session, "project": "", "q": "g"}
        page = (await stage.client.http.get("/pickers/commands", params=place)).text
        assert 'data-command="go"' in page
        assert 'role="option"' in page
        assert "&lt;i&gt;Goes&lt;/i&gt;" in page
        assert 'data-command="review"' not in page


async def test_what_cannot_be_called_is_refused_before_anything_is_kept(home: Path, project: Path) -> None:
    async with asking(home, project, "Do $1 with $2.") as stage:
        url = f"/session/{stage.session}/command"
        for body, status, words in [
            ({"command": "go", "arguments": "one"}, 400, "Argument $2 is missing: 1 word given"),
            ({"command": "went", "arguments": ""}, 404, "There is no command /went"),
            ({"command": "go"}, 400, "arguments"),
        ]:
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await stage.client.post(url, body)
            assert refused.value.response.status_code == status
            assert words in refused.value.response.json()["data"]["message"]
        with pytest.raises(httpx.HTTPStatusError, match="404"):
            await stage.client.post("/session/ses_none/command", {"command": "go", "arguments": "a b"})
        assert await stage.history() == []


async def test_a_command_of_a_project_that_is_not_trusted_waits(home: Path, project: Path) -> None:
    write(project, {".opencode/command/hello.md": "It is !`date`."})
    async with asking(home, project, "Do it.") as stage:
        with pytest.raises(httpx.HTTPStatusError) as refused:
            body = {"command": "hello", "arguments": ""}
            await stage.client.post(f"/session/{stage.session}/command", body)
        assert refused.value.response.json()["data"]["message"] == (
            "The command /hello waits for trust: a person has to trust .opencode/command/hello.md first."
        )


async def test_the_event_tells_what_was_carried_out_after_the_turn(home: Path, project: Path) -> None:
    async with asking(home, project, "Do it.") as stage:
        answer = stage.go("now")
        await until(stage.events, "session.idle")
        event = await until(stage.events, "command.executed")
        assert event.properties == {
            "name": "go",
            "sessionID": stage.session,
            "arguments": "now",
            "messageID": (await answer)["info"]["id"],
        }


async def test_commands_are_listed_as_opencode_lists_them(home: Path, project: Path) -> None:
    write_skill(project / ".claude/skills/greeting", "Say $1.")
    files = project / ".opencode/commands"
    files.mkdir(parents=True)
    (files / "plain.md").write_text("---\ndescription: Plain\n---\nDo $1.\n")
    (files / "shell.md").write_text("Do !`touch made`.\n")
    entry = {"description": "Goes", "agent": "plan", "model": "a/b", "subtask": False}
    async with asking(home, project, "Do $2 and $ARGUMENTS.", entry=entry) as stage:
        listed = {command["name"]: command for command in await stage.client.get("/command")}
        assert listed["go"] == {
            "name": "go",
            "template": "Do $2 and $ARGUMENTS.",
            "hints": ["$2", "$ARGUMENTS"],
            "source": "command",
            **entry,
        }
        assert {"init", "review", "summary"} <= listed.keys()
        assert listed["plain"]["template"].strip() == "Do $1."
        assert "shell" not in listed  # until its file is trusted
        assert listed["greeting"] == {
            "name": "greeting",
            "description": "How to greeting.",
            "template": "Say $1.",
            "hints": [],
            "source": "skill",
        }


@pytest.mark.parametrize(
    ("name", "arguments", "agent"),
    [
        ("init", "Mention tabs.", "build"),
        ("review", "main..topic", "build"),
        ("summary", "For users.", "summary"),
    ],
)
async def test_the_built_in_ones_ask_the_model(
    home: Path, project: Path, name: str, arguments: str, agent: str
) -> None:
    script = [Turn(text=text) for text in ("One.", "Two.", "Three.")]
    async with serving(home, project, script) as (client, model):
        session = (await client.create_session(title="named"))["id"]
        await client.prompt(session, "Begin.")
        answer = await client.post(f"/session/{session}/command", {"command": name, "arguments": arguments})
        assert (answer["info"]["agent"], parts_of([answer], "text")[0]["text"]) == (agent, "Two.")
        asked = model.requests[1].body
        assert prompt_text(f"commands/{name}").replace("$ARGUMENTS", arguments).strip() in sent(asked)
        assert "Begin." in str(asked["messages"])
        assert bool(asked.get("tools")) == (agent == "build")
        if agent == "summary":
            assert asked["messages"][0]["content"].startswith(prompt_text("summary").strip())
        assert (await client.session(session))["agent"] == "build"
        assert (await client.prompt(session, "Go on."))["info"]["agent"] == "build"
