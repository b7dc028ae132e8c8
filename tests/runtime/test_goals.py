"""A session works at a goal by itself: judged after each turn, through crashes, until it is done."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.agent.recovery import CRASHED
from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, Script, ToolUse, Turn, Wait
from tests.server import PATIENCE, Server, model_config, parts_of, running, until

OBJECTIVE = "Make the test pass."
CHECK = "python3 test_add.py"
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
HALF = "def add(a, b):\n    return a\n"
RESTED = {"done", "blocked", "spent", "paused"}


@pytest.fixture
def adding(project: Path) -> Path:
    """A project whose test fails."""
    (project / "add.py").write_text(WRONG)
    (project / "test_add.py").write_text(
        "import sys\nsys.dont_write_bytecode = True\nfrom add import add\nassert add(2, 3) == 5, add(2, 3)\n"
    )
    return project


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """What a check writes into when it runs, and a test reads."""
    path = tmp_path / "begun"
    os.mkfifo(path)
    return path


def is_judge(body: Body) -> bool:
    return "You judge whether" in str(body["messages"][0]["content"])


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def was_cut_off(message: dict[str, Any]) -> bool:
    """Whether it is the outcome of a call that the end of the server cut off: it is called once more."""
    return message["role"] == "tool" and any(
        words in text_of(message) for words in (CRASHED.call, CRASHED.waiting)
    )


class Work:
    """A model that writes these contents of `add.py`, one a turn, and judges by these words, one a verdict;
    the last of each from then on. `prompts` are what the agent was asked last, in order."""

    def __init__(self, contents: Sequence[str], words: Sequence[str] = ("done",)) -> None:
        self._contents, self._words = list(contents), list(words)
        self._written = Turn()
        self.prompts: list[str] = []
        self.judged: list[dict[str, Any]] = []

    def __call__(self, body: Body) -> Turn:
        messages = body["messages"]
        if is_judge(body):
            self.judged.append(json.loads(text_of(messages[-1])))
            word = self._words.pop(0) if len(self._words) > 1 else self._words[0]
            return Turn(text=json.dumps({"verdict": word, "reason": f"It is {word}."}))
        if was_cut_off(messages[-1]):
            return self._written
        if messages[-1]["role"] == "tool" or not body.get("tools"):
            return Turn(text="I have written it.")
        self.prompts.append(text_of(messages[-1]))
        content = self._contents.pop(0) if len(self._contents) > 1 else self._contents[0]
        self._written = Turn(tools=[ToolUse("write", {"filePath": "add.py", "content": content})])
        return self._written


@asynccontextmanager
async def working(home: Path, project: Path, script: Script, **config: Any) -> AsyncIterator[Client]:
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, **config))
        async with running(server) as client:
            yield client


async def begin(client: Client, **given: Any) -> str:
    session = await client.create_session(title="named")
    body = {"objective": OBJECTIVE, "checks": [CHECK], **given}
    await client.post(f"/session/{session['id']}/goal", body)
    return str(session["id"])


async def goal(client: Client, session_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await client.get(f"/session/{session_id}/goal")
    return found


async def rested(client: Client, session_id: str) -> dict[str, Any]:
    """The goal once it is worked at no more and the session is idle."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await goal(client, session_id)
            if found["state"] in RESTED and not (await client.status()).get(session_id):
                return found


def outcomes(found: dict[str, Any]) -> list[str]:
    return [verdict["outcome"] for verdict in found["verdicts"]]


async def said(client: Client, session_id: str) -> list[str]:
    """What the prompts of a session say."""
    history = await client.messages(session_id)
    prompts = [message for message in history if message["info"]["role"] == "user"]
    return [part["text"] for part in parts_of(prompts, "text") if not part.get("synthetic")]


async def test_it_goes_on_until_its_check_passes(home: Path, adding: Path) -> None:
    work = Work([WRONG, RIGHT], ["go_on", "done"])
    async with working(home, adding, work) as client:
        session_id = await begin(client)
        found = await rested(client, session_id)
        assert (found["state"], outcomes(found)) == ("done", ["go_on", "done"])
        first, second = found["verdicts"]
        (failed,), (passed,) = first["checks"], second["checks"]
        assert (failed["passed"], failed["exit"]) == (False, 1)
        assert "AssertionError: -1" in failed["output"]
        assert (passed["passed"], passed["exit"]) == (True, 0)
        assert (first["word"], first["words"]) == ("go_on", "It is go_on.")
        assert "ends with status 0" in work.prompts[0]
        assert "AssertionError: -1" in work.prompts[1]
        assert "It is go_on." in work.prompts[1]
        assert [one["objective"] for one in work.judged] == [OBJECTIVE] * 2
        assert "return a + b" in work.judged[1]["patches"]
        assert found["used"]["turns"] == 2
        assert found["used"]["tokens"] > 0
        assert (await said(client, session_id))[0] == OBJECTIVE
        assert len(await said(client, session_id)) == 2


async def test_checks_alone_decide_where_nobody_judges(home: Path, adding: Path) -> None:
    work = Work([RIGHT])
    async with working(home, adding, work) as client:
        found = await rested(client, await begin(client, judge="none", checks=[CHECK, "file: add.py"]))
        assert (found["state"], work.judged) == ("done", [])


async def test_a_passing_check_is_not_enough_for_a_judge(home: Path, adding: Path) -> None:
    work = Work([RIGHT], ["go_on", "done"])
    async with working(home, adding, work) as client:
        found = await rested(client, await begin(client))
        assert (found["state"], outcomes(found)) == ("done", ["go_on", "done"])


async def test_a_judge_says_done_and_the_check_does_not(home: Path, adding: Path) -> None:
    work = Work([WRONG, RIGHT], ["done"])
    async with working(home, adding, work) as client:
        found = await rested(client, await begin(client))
        assert outcomes(found) == ["go_on", "done"]


async def test_three_turns_without_progress_block_it(home: Path, adding: Path) -> None:
    work = Work([HALF], ["go_on"])
    async with working(home, adding, work) as client:
        session_id = await begin(client)
        found = await rested(client, session_id)
        assert (found["state"], len(found["verdicts"])) == ("blocked", 4)
        assert found["reason"] == "It is go_on."
        await client.post(f"/session/{session_id}/goal/resume")
        found = await rested(client, session_id)
        assert (found["state"], len(found["verdicts"])) == ("blocked", 7)


async def test_the_judge_says_three_times_that_it_is_blocked(home: Path, adding: Path) -> None:
    contents = [f"{WRONG}# {number}\n" for number in range(5)]
    work = Work(contents, ["blocked"])
    async with working(home, adding, work) as client:
        found = await rested(client, await begin(client))
        assert (found["state"], outcomes(found)) == ("blocked", ["go_on", "go_on", "blocked"])
        assert found["reason"] == "It is blocked."


@pytest.mark.parametrize("budget", [{"turns": 2}, {"tokens": 60}])
async def test_a_budget_ends_it(home: Path, adding: Path, budget: dict[str, int]) -> None:
    work = Work([f"{WRONG}# {number}\n" for number in range(9)], ["go_on"])
    async with working(home, adding, work) as client:
        session_id = await begin(client, budget=budget)
        found = await rested(client, session_id)
        assert found["state"] == "spent"
        assert "budget is used up" in found["reason"]
        assert found["used"][next(iter(budget))] >= next(iter(budget.values()))
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await client.post(f"/session/{session_id}/goal/resume")
        assert "Give it more first" in refused.value.response.text


async def test_a_budget_ends_a_turn_without_end(home: Path, adding: Path) -> None:
    """Its last request offers no tools and asks for words."""

    def play(body: Body) -> Turn:
        if is_judge(body):
            return Turn(text=json.dumps({"verdict": "go_on", "reason": "More."}))
        if not body.get("tools"):
            return Turn(text="I have to end here.")
        return Turn(tools=[ToolUse("bash", {"command": f"echo {len(body['messages'])}"})])

    async with working(home, adding, play) as client:
        session_id = await begin(client, budget={"tokens": 70})
        found = await rested(client, session_id)
        assert (found["state"], len(found["verdicts"])) == ("spent", 1)
        history = await client.messages(session_id)
        assert parts_of(history, "text")[-1]["text"] == "I have to end here."


async def test_a_stop_pauses_it_and_it_goes_on_when_asked(home: Path, adding: Path) -> None:
    script = iter([Turn(text=["One", Wait("never")])])
    work = Work([RIGHT])

    def play(body: Body) -> Turn:
        return next(script, None) or work(body)

    async with working(home, adding, play) as client:
        async with client.events() as events:
            session_id = await begin(client)
            await until(events, "message.part.delta")
            await client.abort(session_id)
            await until(events, "session.idle")
        found = await rested(client, session_id)
        assert (found["state"], found["reason"], found["verdicts"]) == ("paused", "Paused by you.", [])
        await client.post(f"/session/{session_id}/goal/resume")
        found = await rested(client, session_id)
        assert (found["state"], outcomes(found)) == ("done", ["go_on", "done"])


async def test_a_stop_ends_a_check_that_runs(home: Path, adding: Path, begun: Path) -> None:
    work = Work([WRONG])
    async with working(home, adding, work) as client:
        session_id = await begin(client, checks=[f"echo >{begun}; exec sleep 600"])
        await asyncio.to_thread(begun.read_text)
        await client.abort(session_id)
        assert (await rested(client, session_id))["state"] == "paused"


async def test_a_turn_that_fails_blocks_it_with_the_reason(home: Path, adding: Path) -> None:
    async with working(home, adding, []) as client:
        found = await rested(client, await begin(client))
        assert (found["state"], found["verdicts"]) == ("blocked", [])
        assert "no turn left" in found["reason"]


async def test_what_it_may_do_is_for_as_long_as_it_is_active(home: Path, adding: Path) -> None:
    work = Work([RIGHT, WRONG])
    async with working(home, adding, work, permission={"edit": "ask"}) as client:
        session_id = await begin(client, preset="edits")
        found = await rested(client, session_id)
        assert found["state"] == "done"
        assert "preset" not in await client.session(session_id)
        asked = await begin(client)
        async with client.events() as events:
            while not (waiting := await client.permissions()):
                await until(events, "permission.asked")
        assert waiting[0]["sessionID"] == asked, "what would be asked waits in the inbox"
        await client.post(f"/session/{asked}/goal/pause")
        assert (await rested(client, asked))["state"] == "paused"


async def test_it_is_changed_and_ended(home: Path, adding: Path, begun: Path) -> None:
    work = Work([WRONG])
    async with working(home, adding, work) as client:
        session_id = await begin(client, checks=[f"echo >{begun}; exec sleep 600"], judge="none")
        await asyncio.to_thread(begun.read_text)
        body = {"objective": "Another.", "checks": ["true"], "judge": "none"}
        await client.post(f"/session/{session_id}/goal/pause")
        await rested(client, session_id)
        await client.http.patch(f"/session/{session_id}/goal", json=body)
        await client.post(f"/session/{session_id}/goal/resume")
        found = await rested(client, session_id)
        assert (found["objective"], found["state"]) == ("Another.", "done")
        await client.post(f"/session/{session_id}/goal/end")
        with pytest.raises(httpx.HTTPStatusError) as gone:
            await goal(client, session_id)
        assert gone.value.response.status_code == 404
        for bad in ({"objective": " "}, {"checks": ["file: ../x"]}, {"judge": "none"}):
            with pytest.raises(httpx.HTTPStatusError) as refused:
                await client.post(f"/session/{session_id}/goal", {"objective": "x", **bad})
            assert refused.value.response.status_code == 400, bad


# Crashes.


def twice(prompts: Sequence[str]) -> list[str]:
    return [text for text, times in Counter(prompts).items() if times > 1]


async def crash(server: Server, point: str) -> str:
    """Set a goal on a server that kills itself at a point; the session's id."""
    dying = Server(
        server.home, server.project, server.config, {"CRASH_AT": point}, module="tests.runtime.crashing"
    )
    await asyncio.to_thread(dying.start)
    assert dying.process is not None
    async with dying.client() as client:
        session = await client.create_session(title="named")
        with contextlib.suppress(httpx.HTTPError):  # the answer may never come
            await client.post(f"/session/{session['id']}/goal", {"objective": OBJECTIVE, "checks": [CHECK]})
    assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9, dying.log()
    return str(session["id"])


POINTS = [
    "within promotion",
    "promoted",
    "before a tool runs",
    "before a tool settles",
    "settled",
    "a goal's turn ended",
    "a goal's checks begin",
    "a goal's checks ended",
    "within a verdict",
    "a verdict written",
]


async def check_done(client: Client, session_id: str) -> None:
    """With each prompt said once, and each turn judged once."""
    found = await rested(client, session_id)
    assert found["state"] == "done", (found["reason"], outcomes(found), await said(client, session_id))
    assert [one["number"] for one in found["verdicts"]] == list(range(1, len(found["verdicts"]) + 1))
    prompts = await said(client, session_id)
    assert prompts[0] == OBJECTIVE
    assert len(prompts) == len(found["verdicts"]), "a prompt for each verdict that goes on, and the first"
    assert twice([verdict["messageID"] for verdict in found["verdicts"]]) == []


@pytest.mark.parametrize("point", POINTS)
async def test_a_crash_forgets_nothing_and_repeats_nothing(home: Path, adding: Path, point: str) -> None:
    work = Work([f"{WRONG}#\n", RIGHT], ["go_on", "go_on", "done"])
    async with OpenAIServer(work) as model:
        server = Server(home, adding, model_config(model.base_url))
        session_id = await crash(server, point)
        async with running(server) as client:
            await check_done(client, session_id)


async def killed_at_random(home: Path, adding: Path, seed: int) -> None:
    """Kill the server at moments that nobody chose; then it goes on by itself."""
    rng = random.Random(seed)
    work = Work([f"{WRONG}#\n", HALF, RIGHT], ["go_on", "go_on", "go_on", "done"])
    async with OpenAIServer(work) as model:
        server = Server(home, adding, model_config(model.base_url))
        session_id = ""
        for _ in range(2):
            await asyncio.to_thread(server.start)
            async with server.client() as client:
                session_id = session_id or await begin(client)
                for _ in range(rng.randrange(60)):
                    if (await goal(client, session_id))["state"] in RESTED:
                        break
            server.kill()
        async with running(server) as client:
            await check_done(client, session_id)


@pytest.mark.parametrize("seed", range(2))
async def test_killed_at_random_it_is_worked_at_once(home: Path, adding: Path, seed: int) -> None:
    await killed_at_random(home, adding, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
async def test_killed_at_random_a_hundred_times(home: Path, adding: Path, seed: int) -> None:
    await killed_at_random(home, adding, seed)


async def test_killed_while_a_check_runs(home: Path, adding: Path, begun: Path) -> None:
    work = Work([RIGHT], ["done"])
    async with OpenAIServer(work) as model:
        server = Server(home, adding, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client:
            once = f"test -e once || {{ touch once; echo >{begun}; exec sleep 600; }}"
            session_id = await begin(client, checks=[once])
            await asyncio.to_thread(begun.read_text)
        server.kill()
        async with running(server) as client:
            found = await rested(client, session_id)
            assert (found["state"], outcomes(found)) == ("done", ["done"])
            assert await said(client, session_id) == [OBJECTIVE]


async def test_a_check_that_ends_the_server_each_time_blocks_it(home: Path, adding: Path) -> None:
    work = Work([RIGHT], ["done"])
    async with OpenAIServer(work) as model:
        server = Server(home, adding, model_config(model.base_url))
        session_id = await crash(server, "a goal's checks begin")
        again = Server(
            home,
            adding,
            server.config,
            {"CRASH_AT": "a goal's checks begin"},
            module="tests.runtime.crashing",
        )
        for _ in range(2):
            with contextlib.suppress(RuntimeError):  # it may end before it answers
                await asyncio.to_thread(again.start)
            assert again.process is not None
            assert await asyncio.to_thread(again.process.wait, PATIENCE) == -9
        async with running(server) as client:
            found = await rested(client, session_id)
            assert found["state"] == "blocked"
            assert "The server ended each time" in found["reason"]
