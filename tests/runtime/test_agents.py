"""Agents through whole turns: their prompt, sampling, options, rules and variants as the model server sees
them, and what the page says of broken ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.loopback.server import LoopbackServer
from tests.server import PATIENCE, Server, model_config, parts_of, running, serving, until

COMPATIBLE, ANTHROPIC = "@ai-sdk/openai-compatible", "@ai-sdk/anthropic"
PROTOCOLS = pytest.mark.parametrize(
    ("server_class", "npm"), [(OpenAIServer, COMPATIBLE), (AnthropicServer, ANTHROPIC)]
)
REVIEWER = """---
description: Reviews what was written.
temperature: 0.3
top_p: 0.9
steps: 7
color: "#ff8800"
permission:
  edit: deny
tools:
  webfetch: false
own_field: 17
stopSequences: [END]
---
You are the reviewer of this house.
"""


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def own(home: Path, name: str, text: str) -> Path:
    return write(home / ".config/opencode/agents" / name, text)


def thinking(
    url: str, npm: str = COMPATIBLE, *, models: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """The configuration of the loopback model as one that thinks, and of others beside it."""
    config = model_config(url, npm, **more)
    config["provider"]["fake"]["models"]["fake"] |= {
        "reasoning": True,
        "limit": {"context": 200_000, "output": 64_000},
    }
    config["provider"]["fake"]["models"] |= models or {}
    return config


@asynccontextmanager
async def thinking_server(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str, answers: int, **more: Any
) -> AsyncIterator[tuple[Client, LoopbackServer]]:
    async with (
        server_class([Turn(text="Done.")] * answers) as model,
        running(Server(home, project, thinking(model.base_url, npm, **more))) as client,
    ):
        yield client, model


async def ask(client: Client, session: str, text: str = "Go.", **more: Any) -> dict[str, Any]:
    body = {"parts": [{"type": "text", "text": text}], **more}
    answer: dict[str, Any] = await client.post(f"/session/{session}/message", body)
    return answer


def plain(html: str) -> str:
    """Without the line breaks of templates."""
    return " ".join(html.split())


async def page(client: Client, picker: str, **query: str) -> str:
    return plain((await client.http.get(f"/pickers/{picker}", params=query)).text)


async def choose(client: Client, session: str, **choice: str) -> Any:
    return await client.http.post(
        "/pickers/choose", data={"session": session, **choice}, headers={"HX-Request": "true"}
    )


def system_of(body: Mapping[str, Any]) -> str:
    return str(body.get("system") or body["messages"][0]["content"])


def names_of(body: Mapping[str, Any]) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in body["tools"]}


def effort_of(body: Mapping[str, Any]) -> Any:
    """The level of thinking that was asked for, in either protocol."""
    return body.get("reasoning_effort") or (body.get("thinking") or {}).get("budget_tokens")


@PROTOCOLS
async def test_an_agent_from_a_file_answers_as_the_file_says(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    own(home, "team/reviewer.md", REVIEWER)
    edit = ToolUse("write", {"filePath": "new.txt", "content": "x"})
    async with (
        server_class([Turn(tools=[edit]), Turn(text="Reviewed.")]) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
    ):
        session = (await client.create_session(title="named"))["id"]
        answer = await ask(client, session, agent="team/reviewer")
        assert answer["info"]["agent"] == "team/reviewer"
        body = model.requests[0].body
        assert "You are the reviewer of this house." in system_of(body)
        assert "coding agent of opencode-web" not in system_of(body)
        assert (body["temperature"], body["top_p"], body["own_field"]) == (0.3, 0.9, 17)
        assert body["stop" if npm == COMPATIBLE else "stop_sequences"] == ["END"]
        assert not {"edit", "write", "webfetch"} & names_of(body)
        (part,) = parts_of(await client.messages(session), "tool")
        assert part["state"]["status"] == "error"
        assert not (project / "new.txt").exists()


async def test_agents_are_listed_as_opencode_lists_them(home: Path, project: Path) -> None:
    own(
        home,
        "reviewer.md",
        REVIEWER.replace("color:", "model: fake/fake\nvariant: high\nmode: subagent\ncolor:"),
    )
    async with serving(home, project, []) as (client, _):
        listed = {agent["name"]: agent for agent in await client.get("/agent")}
        reviewer = listed["reviewer"]
        denied = {"permission": "edit", "pattern": "*", "action": "deny"}
        assert denied in reviewer.pop("permission")
        assert reviewer == {
            "name": "reviewer",
            "description": "Reviews what was written.",
            "mode": "subagent",
            "native": False,
            "temperature": 0.3,
            "topP": 0.9,
            "color": "#ff8800",
            "model": {"providerID": "fake", "modelID": "fake"},
            "variant": "high",
            "prompt": "You are the reviewer of this house.",
            "options": {"own_field": 17, "stopSequences": ["END"]},
            "steps": 7,
        }
        natives = {
            name: (agent["mode"], "hidden" in agent) for name, agent in listed.items() if agent["native"]
        }
        assert natives == {
            "build": ("primary", False),
            "plan": ("primary", False),
            "general": ("subagent", False),
            "explore": ("subagent", False),
            "compaction": ("primary", True),
            "title": ("primary", True),
            "summary": ("primary", True),
        }


async def test_a_broken_file_is_named_in_the_page_and_the_others_answer(home: Path, project: Path) -> None:
    own(home, "good.md", "Be good.")
    own(home, "bad.md", "---\nmode: primary\nprompt: [<b>\n---\nx")
    write(project / ".opencode/agents/worse.md", "---\nmode: <i>\n---\nx")
    own(home, "circle.md", '---\ndescription: "{file:circle.md}"\n---\nx')
    agents = {"lost": {"model": "fake/gone"}}
    async with serving(home, project, [Turn(text="Good.")], default_agent="explore", agent=agents) as (
        client,
        model,
    ):
        session = (await client.create_session(title="named"))["id"]
        shown = await page(client, "status", session=session)
        assert "agents/bad.md</code>, line" in shown
        assert "agents/worse.md</code>, line 2" in shown
        assert "agents/circle.md includes itself" in shown
        assert "There is no model &#x27;fake/gone&#x27;" in shown
        assert "explore&#x27; is a subagent" in shown
        assert "<i>" not in shown
        answer = await ask(client, session, agent="good")
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Good."]
        assert "Be good." in system_of(model.requests[0].body)


async def test_an_unknown_model_of_an_agent_is_told_in_the_turn_and_nothing_is_lost(
    home: Path, project: Path
) -> None:
    agents = {"lost": {"model": "fake/gone"}}
    async with serving(home, project, [Turn(text="Here.")], agent=agents) as (client, _):
        session = (await client.create_session(title="named"))["id"]
        answer = await ask(client, session, "First.", agent="lost")
        assert "There is no model 'fake/gone'" in answer["info"]["error"]["data"]["message"]
        answer = await ask(
            client, session, "Second.", agent="build", model={"providerID": "fake", "modelID": "fake"}
        )
        assert "error" not in answer["info"]
        said = [part["text"] for part in parts_of(await client.messages(session), "text")]
        assert said == ["First.", "Second.", "Here."]


async def test_a_default_agent_nobody_can_talk_to_gives_way_to_build(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="Hi.")], default_agent="nobody") as (client, _):
        session = (await client.create_session(title="named"))["id"]
        assert (await client.prompt(session, "Hello?"))["info"]["agent"] == "build"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("claude-x", "Say what is true, not what is welcome"),
        ("gpt-4o", "You are an agent, not an adviser"),
        ("gpt-5.2", "One patch may hold several files"),
        ("gemini-9", "Conventions first"),
        ("llama", "Never invent a file"),
    ],
)
async def test_the_family_of_the_model_chooses_the_base_prompt(
    home: Path, project: Path, name: str, words: str
) -> None:
    async with OpenAIServer([Turn(text="Hi.")]) as model:
        config = thinking(model.base_url, models={name: {"tool_call": True}})
        async with running(Server(home, project, config)) as client:
            session = (await client.create_session(title="named"))["id"]
            await ask(client, session, model={"providerID": "fake", "modelID": name})
            assert words in system_of(model.requests[0].body)


@PROTOCOLS
async def test_a_variant_is_switched_between_turns(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    wild = {"wild": {"temperature": 1.5, "own_field": 3}, "high": {"own_field": 4}}
    async with thinking_server(home, project, server_class, npm, 5, models={"plain": {"variants": wild}}) as (
        client,
        model,
    ):
        session = (await client.create_session(title="named"))["id"]
        first = await ask(client, session)
        await choose(client, session, variant="high")
        second = await ask(client, session)
        shown = await page(client, "choice", session=session)
        assert '<input type="hidden" name="variant" value="high">' in shown
        swapped = (await choose(client, session, model="fake/plain")).text
        assert '<input type="hidden" name="model" value="fake/plain">' in swapped
        assert 'data-value="wild" data-text="wild"' in await page(client, "options", session=session)
        assert (await client.session(session))["model"].get("variant") == "high", "it has one of that name"
        third = await ask(client, session)
        await choose(client, session, variant="wild")
        await ask(client, session)
        await choose(client, session, model="fake/fake")
        assert "variant" not in (await client.session(session))["model"], "it has none of that name"
        await ask(client, session)
        bodies = [request.body for request in model.requests]
        level = "high" if npm == COMPATIBLE else 16_000
        assert [effort_of(body) for body in bodies] == [None, level, None, None, None]
        assert [body.get("own_field") for body in bodies] == [None, None, 4, 3, None]
        assert bodies[3]["temperature"] == 1.5
        told = [answer["info"].get("variant") for answer in (first, second, third)]
        assert told == [None, "high", "high"]
        history = await client.messages(session)
        assert history[2]["info"]["model"]["variant"] == "high"


@PROTOCOLS
async def test_an_agents_own_variant_counts_when_nothing_was_chosen(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    agents = {"thinker": {"variant": "high", "max_tokens": 100}, "odd": {"variant": "nothing"}}
    levels = {"low": {"reasoningEffort": "low", "thinking": {"type": "enabled", "budgetTokens": 2000}}}
    models = {
        "fake": {"reasoning": True, "limit": {"context": 200_000, "output": 64_000}, "variants": levels}
    }
    async with thinking_server(home, project, server_class, npm, 3, models=models, agent=agents) as (
        client,
        model,
    ):
        session = (await client.create_session(title="named"))["id"]
        assert (await ask(client, session, agent="thinker"))["info"]["variant"] == "high"
        assert (await ask(client, session, agent="thinker", variant="low"))["info"]["variant"] == "low"
        other = (await client.create_session(title="named"))["id"]
        assert "variant" not in (await ask(client, other, agent="odd"))["info"]
        bodies = [request.body for request in model.requests]
        expected = ["high", "low", None] if npm == COMPATIBLE else [16_000, 2000, None]
        assert [effort_of(body) for body in bodies] == expected
        assert bodies[0]["max_tokens"] == (100 if npm == COMPATIBLE else 16_100)


@PROTOCOLS
async def test_at_the_step_limit_the_model_sums_up_without_tools(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    script = [Turn(tools=[ToolUse("list", {})]), Turn(text="So far.")]
    async with (
        server_class(script) as model,
        running(
            Server(home, project, model_config(model.base_url, npm, agent={"build": {"steps": 1}}))
        ) as client,
    ):
        session = (await client.create_session(title="named"))["id"]
        await client.prompt(session, "Go.")
        first, last = (request.body for request in model.requests)
        assert "limit of steps" not in str(first)
        assert "limit of steps" in str(last["messages"][-1])
        assert system_of(first) == system_of(last)
        assert "tools" not in last if npm == COMPATIBLE else last["tool_choice"] == {"type": "none"}


async def test_explore_cannot_write_by_the_shell(home: Path, project: Path) -> None:
    calls = [
        ToolUse("bash", {"command": "cat hello.py", "description": "Look"}),
        ToolUse("bash", {"command": "cat hello.py > copy.py", "description": "Copy"}),
    ]
    async with serving(home, project, [Turn(tools=calls), Turn(text="Seen.")]) as (client, _):
        session = (await client.create_session(title="named"))["id"]
        async with client.events() as events:
            await client.post(
                f"/session/{session}/prompt_async",
                {"parts": [{"type": "text", "text": "Look."}], "agent": "explore"},
            )
            await until(events, "session.idle", sessionID=session)
        looked, copied = parts_of(await client.messages(session), "tool")
        assert "return 'hello'" in looked["state"]["output"]
        assert copied["state"]["status"] == "error"
        assert not (project / "copy.py").exists()


async def test_the_pickers_show_agents_with_colour_and_those_to_mention(home: Path, project: Path) -> None:
    own(home, "reviewer.md", REVIEWER)
    own(home, "helper.md", "---\nmode: subagent\ncolor: success\ndescription: <b>Helps\n---\nHelp.")
    async with serving(home, project, []) as (client, _):
        session = await client.create_session(title="named")
        chosen = plain((await choose(client, session["id"], agent="reviewer")).text)
        assert 'data-color="#ff8800" title="Reviews what was written."' in chosen
        shown = await page(client, "options", session=session["id"])
        assert 'aria-selected="true" data-value="reviewer"' in shown
        assert 'data-value="build"' in shown
        assert "helper" not in shown
        assert "explore" not in shown
        every = await page(client, "mentions", project=session["projectID"])
        names = ["explore", "general", "helper", "reviewer"]
        positions = [every.find(f'data-mention="{name}" data-insert="@{name}"') for name in names]
        assert positions == sorted(positions)
        assert -1 not in positions
        assert 'data-mention="build"' not in every
        assert "&lt;b&gt;Helps" in every
        some = await page(client, "mentions", session=session["id"], q="Re")
        assert "explore" in some
        assert some.find("@reviewer") < some.find("@explore")
        assert "helper" not in some


async def test_choosing_an_agent_takes_its_model_and_nobody_else_can_be_chosen(
    home: Path, project: Path
) -> None:
    agents = {"thinker": {"model": "fake/fake", "variant": "high"}, "sub": {"mode": "subagent"}}
    async with thinking_server(home, project, OpenAIServer, COMPATIBLE, 1, agent=agents) as (client, _):
        session = (await client.create_session(title="named"))["id"]
        answer = await choose(client, session, agent="thinker")
        assert '<input type="hidden" name="variant" value="high">' in answer.text
        chosen = await client.session(session)
        assert (chosen["agent"], chosen["model"]) == (
            "thinker",
            {"id": "fake", "providerID": "fake", "variant": "high"},
        )
        for name in ("sub", "title", "nobody"):
            with pytest.raises(Exception, match="404"):
                await choose(client, session, agent=name)
        await choose(client, session, variant="nothing")
        assert "variant" not in (await client.session(session))["model"]


async def test_the_agent_of_a_prompt_is_remembered_with_the_demo_model_too(home: Path, project: Path) -> None:
    """Of the model nothing is: a real one takes over as soon as there is one."""
    async with running(Server(home, project)) as client, client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Show me around.", agent="plan")
        async with asyncio.timeout(PATIENCE):
            while (await client.session(session["id"])).get("agent") != "plan":
                await until(events, "session.updated")
        assert not (await client.session(session["id"])).get("model")
        await client.abort(session["id"])
