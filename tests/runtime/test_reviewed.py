"""A model reads first what would be asked: its yes is for one call, all else is a person's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, HttpError, ToolUse, Turn
from tests.runtime.asking import Stage, rows
from tests.server import Server, model_config, parts_of, running

ASKS = {"*": "allow", "bash": {"*": "ask", "git push *": "person", "rm *": "deny"}}


def bash(command: str) -> Turn:
    return Turn(tools=[ToolUse("bash", {"command": command, "description": "Run"})])


def says(*, allow: bool, reason: str = "It is what was wanted.") -> Turn:
    return Turn(text=f"<think>Hm.</think>```json\n{json.dumps({'allow': allow, 'reason': reason})}\n```")


class Models:
    """The agent's model, which plays its turns, and the reviewer, which gives its answers."""

    def __init__(self, turns: list[Turn], answers: list[Turn]) -> None:
        self.turns = turns
        self.answers = answers
        self.read: list[Body] = []

    def __call__(self, body: Body) -> Turn:
        if body["model"] != "judge":
            return self.turns.pop(0)
        self.read.append(body)
        return self.answers.pop(0)


@asynccontextmanager
async def reviewed(
    home: Path, project: Path, models: Models, **more: Any
) -> AsyncIterator[tuple[Stage, str]]:
    """A session in this mode."""
    async with OpenAIServer(models) as model:
        config = model_config(model.base_url, permission=ASKS, reviewer={"model": "fake/judge", **more})
        known = config["provider"]["fake"]["models"]
        known["judge"] = dict(known["fake"])
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = (await client.create_session("named"))["id"]
            answer = await client.http.patch(f"/session/{session}", json={"preset": "reviewed"})
            assert answer.json()["preset"] == "reviewed"
            yield Stage(model, home, client, events), session


def audit(home: Path) -> list[Any]:
    return rows(
        home,
        'SELECT verdict, "by", words FROM opencode_sessions_decision WHERE permission = "bash" ORDER BY id',
    )


async def test_its_yes_is_for_one_call_with_the_reason(home: Path, project: Path) -> None:
    models = Models(
        [bash("touch a"), bash("touch a"), Turn(text="Done.")],
        [says(allow=True, reason="Makes the\n file."), says(allow=False, reason="Once is enough.")],
    )
    async with reviewed(home, project, models) as (on, session):
        await on.client.prompt_async(session, "Make the file a.")
        asked = await on.asked()
        assert asked["metadata"]["reviewer"] == "Once is enough."
        assert (project / "a").exists()
        await on.reply(asked, reply="once")
        await on.idle(session)
        first, second = parts_of(await on.client.messages(session), "tool")
        assert first["state"]["metadata"]["reviewed"] == "Makes the file."
        assert "reviewed" not in second["state"]["metadata"]
    told = json.loads(models.read[0]["messages"][1]["content"])
    assert (told["command"], told["the_person_wanted"]) == ("touch a", "Make the file a.")
    assert told["folder"] == str(project)
    assert audit(home) == [("allow", "reviewer", "Makes the file."), ("allow", "person", "")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Turn(text="Yes, of course."), "The reviewer gave no answer that can be read."),
        (Turn(text='{"allow": "yes", "reason": "x"}'), "The reviewer gave no answer that can be read."),
        (Turn(text='{"allow": true}'), "The reviewer gave no answer that can be read."),
        (Turn(fault=HttpError(400, "broken")), "The reviewer could not be asked: "),
    ],
)
async def test_whatever_else_comes_of_it_a_person_is_asked(
    home: Path, project: Path, answer: Turn, words: str
) -> None:
    models = Models([bash("touch a"), Turn(text="Done.")], [answer])
    async with reviewed(home, project, models) as (on, session):
        await on.client.prompt_async(session, "Go.")
        assert (await on.asked())["metadata"]["reviewer"].startswith(words)
        await on.client.abort(session)
    assert not (project / "a").exists()


async def test_what_is_for_a_person_or_denied_it_never_reads(home: Path, project: Path) -> None:
    models = Models([bash("rm hello.py"), bash("git push origin x"), Turn(text="Done.")], [])
    async with reviewed(home, project, models) as (on, session):
        await on.client.prompt_async(session, "Go.")
        asked = await on.asked()
        assert (asked["patterns"], asked["always"]) == (["git push origin x"], [])
        for preset in ("alone", "everything"):
            await on.client.http.patch(f"/session/{session}", json={"preset": preset})
        (waiting,) = await on.client.get("/permission")
        assert waiting["id"] == asked["id"], "no mode answers it"
        await on.reply(asked, reply="reject")
        await on.idle(session)
        assert await on.statuses(session) == ["error", "error"]
    assert models.read == []
    assert (project / "hello.py").exists()


async def test_it_judges_by_instructions_of_ones_own_and_not_what_is_too_long(
    home: Path, project: Path
) -> None:
    models = Models([bash("touch a"), bash(f"echo {'x' * 50_000}"), Turn(text="Done.")], [says(allow=True)])
    async with reviewed(home, project, models, instructions="Say yes to touch.") as (on, session):
        await on.client.prompt_async(session, "Go.")
        assert (await on.asked())["metadata"]["reviewer"] == "It is too long for the reviewer to read."
        await on.client.abort(session)
    (body,) = models.read
    assert body["messages"][0]["content"] == "Say yes to touch."
