"""A task is tried by several models at once, in worktrees; it is measured, judged, taken, cleaned up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.client import Client
from sessions.core.ids import ascending
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, HttpError, ToolUse, Turn, Wait
from tests.runtime.test_goals import text_of, was_cut_off
from tests.server import PATIENCE, Server, model_config, parts_of, running, until

PROMPT = "Make the test pass."
CHECK = "python3 test_add.py"
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
LONG = "def add(a, b):\n    # Add them.\n    total = a + b\n    return total\n"
MODELS = {"wrong": WRONG.replace("- b", "- b - 0"), "right": RIGHT, "long": LONG}
"""What each model writes into `add.py`."""
TEST = """\
import sys
sys.dont_write_bytecode = True
from add import add
passed = add(2, 3) == 5
failure = "" if passed else '<failure message="no"/>'
with open("report.xml", "w") as file:
    file.write(f'<testsuite><testcase name="adds">{failure}</testcase><testcase name="is"/></testsuite>')
assert passed, add(2, 3)
"""
ENDED = {"measured", "failed"}


@pytest.fixture
def adding(project: Path) -> Path:
    """A project whose test fails, all of it committed."""
    (project / "add.py").write_text(WRONG)
    (project / "test_add.py").write_text(TEST)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "A test that fails")
    return project


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Work:
    """Models that write what `MODELS` says, once each, and one that judges. `asked` are the names of those
    that were asked with a prompt that nobody had answered yet."""

    def __init__(self, best: int = 2, first: Mapping[str, Turn] | None = None) -> None:
        self._best = best
        self._first = dict(first or {})
        self.asked: list[str] = []
        self.judged: list[dict[str, Any]] = []

    def __call__(self, body: Body) -> Turn:
        messages, name = body["messages"], str(body["model"])
        if "You compare attempts" in str(messages[0]["content"]):
            self.judged.append(json.loads(text_of(messages[-1])))
            words = [{"number": number, "words": f"Words on {number}."} for number in (1, 2, 3)]
            answer = {"best": self._best, "reason": "It is short.", "attempts": words}
            return Turn(text=json.dumps(answer))
        write = Turn(tools=[ToolUse("write", {"filePath": "add.py", "content": MODELS.get(name, "")})])
        if was_cut_off(messages[-1]):
            return write
        if messages[-1]["role"] == "tool" or not body.get("tools"):
            return Turn(text=f"{name} has written it.")
        if (turn := self._first.pop(name, None)) is not None:
            return turn
        self.asked.append(name)
        return write


def models(base_url: str, **more: Any) -> dict[str, Any]:
    config = model_config(base_url, **more)
    entry = config["provider"]["fake"]
    entry["models"] |= {name: entry["models"]["fake"] | {"name": name} for name in MODELS}
    return config


@asynccontextmanager
async def working(
    home: Path, project: Path, script: Callable[[Body], Turn], **config: Any
) -> AsyncIterator[Client]:
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, models(model.base_url, **config))) as client,
    ):
        yield client


def terms(*names: str, **given: Any) -> dict[str, Any]:
    ways = [{"model": {"providerID": "fake", "modelID": name}} for name in names or MODELS]
    return {"prompt": PROMPT, "attempts": ways, "checks": [CHECK], **given}


async def begin(client: Client, *names: str, **given: Any) -> str:
    made = await client.post("/comparison", terms(*names, **given))
    return str(made["id"])


async def comparison(client: Client, comparison_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await client.get(f"/comparison/{comparison_id}")
    return found


async def until_done(client: Client, comparison_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while (found := await comparison(client, comparison_id))["state"] != "done":
            pass
    return found


async def until_begun(client: Client, comparison_id: str, number: int = 1) -> dict[str, Any]:
    """The comparison once the model of an attempt has said that it begins."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await comparison(client, comparison_id)
            session_id = found["attempts"][number - 1].get("sessionID")
            history = await client.messages(session_id) if session_id else []
            if any(part["text"] == "I begin" for part in parts_of(history, "text")):
                return found


async def prompts(client: Client, one: Mapping[str, Any]) -> list[str]:
    """What was asked in the session of an attempt."""
    history = await client.messages(one["sessionID"])
    asked = [message for message in history if message["info"]["role"] == "user"]
    return [part["text"] for part in parts_of(asked, "text")]


def by_model(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["model"]["modelID"]: one for one in found["attempts"]}


async def refused(work: Any) -> str:
    with pytest.raises(httpx.HTTPStatusError) as problem:
        await work
    assert problem.value.response.status_code in (400, 404)
    return str(problem.value.response.json()["data"]["message"])


async def test_three_models_are_compared_and_the_best_is_taken(home: Path, adding: Path) -> None:
    work = Work()
    (adding / "hello.py").write_text("def hello():\n    return 'mine'\n")
    async with working(home, adding, work) as client:
        comparison_id = await begin(client)
        found = await until_done(client, comparison_id)
        assert (found["best"], found["words"], found["taken"]) == (2, "It is short.", 0)
        assert sorted(work.asked) == sorted(MODELS)
        for name, one in by_model(found).items():
            (check,) = one["checks"]
            assert check["passed"] == (name != "wrong"), one
            assert one["tests"] == {
                "passed": 1 + check["passed"],
                "failed": 1 - check["passed"],
                "skipped": 0,
            }
            assert (one["state"], one["files"], one["error"]) == ("measured", 1, "")
            assert one["tokens"] > 0
            assert one["words"] == f"Words on {one['number']}."
            assert await prompts(client, one) == [PROMPT]
            folder = Path(one["directory"])
            assert (folder / "add.py").read_text() == MODELS[name]
            assert (folder / "hello.py").read_text() != (adding / "hello.py").read_text(), "from the commit"
            assert git(folder, "rev-parse", "HEAD").strip() == found["commit"]
        assert by_model(found)["long"]["additions"] == 3
        (told,) = work.judged
        assert told["task"] == PROMPT
        assert [one["number"] for one in told["attempts"]] == [1, 2, 3]
        assert "return a + b" in told["attempts"][1]["patches"]
        assert "right" not in json.dumps(told["attempts"][0]), "it does not know who made it"

        # It is looked at, and taken into the project, whose other changes stay.
        (diff,) = await client.get(f"/comparison/{comparison_id}/diff", attempt=2)
        assert (diff["file"], diff["additions"], diff["deletions"]) == ("add.py", 1, 1)
        (other,) = await client.get(f"/comparison/{comparison_id}/diff", attempt=3, against=2)
        assert "+    total = a + b" in other["patch"]
        assert "-    return a + b" in other["patch"]
        seen = await client.post(f"/comparison/{comparison_id}/take", {"attempts": [2], "preview": True})
        assert [(one["file"], one["outcome"]) for one in seen["files"]] == [("add.py", "restore")]
        assert (adding / "add.py").read_text() == WRONG
        await client.post(f"/comparison/{comparison_id}/take", {"attempts": [2]})
        assert (adding / "add.py").read_text() == RIGHT
        assert "mine" in (adding / "hello.py").read_text()
        assert (await comparison(client, comparison_id))["taken"] == 2

        # The worktrees are counted, then go; the conversations stay.
        left = await client.get(f"/comparison/{comparison_id}/left")
        assert [(one["attempt"], one["files"]) for one in left] == [
            (number, ["add.py", "report.xml"]) for number in (1, 2, 3)
        ]
        wrong = {1: left[0]["key"], 2: "another"}
        assert "has changed" in await refused(
            client.post(f"/comparison/{comparison_id}/clean", {"seen": wrong})
        )
        keys = {one["attempt"]: one["key"] for one in left[1:]}
        assert await client.post(f"/comparison/{comparison_id}/clean", {"seen": keys}) == 2
        assert not any(Path(one["directory"]).exists() for one in found["attempts"])
        assert await client.get(f"/comparison/{comparison_id}/left") == []
        assert git(adding, "worktree", "list", "--porcelain").count("worktree ") == 1
        for one in found["attempts"]:
            assert await prompts(client, one) == [PROMPT]
        (diff,) = await client.get(f"/comparison/{comparison_id}/diff", attempt=1)
        assert diff["file"] == "add.py"
        listed = await client.get("/comparison")
        assert [one["id"] for one in listed] == [comparison_id]


async def test_no_more_than_so_many_work_at_once(home: Path, adding: Path) -> None:
    first = {name: Turn(text=["I begin", Wait(name)]) for name in MODELS}
    async with (
        OpenAIServer(Work(first=first)) as model,
        running(Server(home, adding, models(model.base_url))) as client,
    ):
        comparison_id = await begin(client, atOnce=1, judge="none", checks=["true"])
        for number, name in enumerate(MODELS, 1):
            found = await until_begun(client, comparison_id, number)
            states = [one["state"] for one in found["attempts"]]
            assert states == ["measured"] * (number - 1) + ["running"] + ["waiting"] * (3 - number)
            model.gate(name).open()
        found = await until_done(client, comparison_id)
        assert (found["best"], found["words"]) == (0, "")


async def test_a_stop_measures_what_was_done_by_then(home: Path, adding: Path) -> None:
    first = {"wrong": Turn(text=["I begin", Wait("never")])}
    work = Work(first=first)
    async with working(home, adding, work) as client:
        comparison_id = await begin(client, atOnce=1)
        await until_begun(client, comparison_id)
        await client.post(f"/comparison/{comparison_id}/stop")
        found = await until_done(client, comparison_id)
        assert [one["state"] for one in found["attempts"]] == ["measured", "failed", "failed"]
        assert found["attempts"][0]["error"]
        assert found["attempts"][1]["error"] == "You stopped it."
        assert len(found["attempts"][0]["checks"]) == 1
        assert work.judged == []


async def test_a_stop_ends_a_check_that_runs(home: Path, adding: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.touch()
    check = f"echo x >>{begun}; exec sleep 600"
    async with working(home, adding, Work()) as client:
        comparison_id = await begin(client, "right", "long", checks=[check], judge="none")
        async with asyncio.timeout(PATIENCE):
            while len(begun.read_text().split()) < 2:
                await comparison(client, comparison_id)
        await client.post(f"/comparison/{comparison_id}/stop")
        found = await until_done(client, comparison_id)
        assert [one["error"] for one in found["attempts"]] == ["You stopped it."] * 2


async def test_one_that_fails_keeps_no_other_from_its_end(home: Path, adding: Path) -> None:
    first = {"wrong": Turn(fault=HttpError(400, "That was wrong."))}
    async with working(home, adding, Work(first=first)) as client:
        comparison_id = await begin(client)
        found = await until_done(client, comparison_id)
        one = by_model(found)["wrong"]
        assert "That was wrong." in one["error"]
        assert (one["state"], one["files"], one["checks"][0]["passed"]) == ("measured", 0, False)
        assert by_model(found)["right"]["checks"][0]["passed"]


async def test_a_session_that_is_deleted_is_not_waited_for(home: Path, adding: Path) -> None:
    first = {"wrong": Turn(text=["I begin", Wait("never")])}
    async with working(home, adding, Work(first=first)) as client:
        comparison_id = await begin(client)
        found = await until_begun(client, comparison_id)
        await client.http.delete(f"/session/{found['attempts'][0]['sessionID']}")
        found = await until_done(client, comparison_id)
        assert by_model(found)["wrong"]["error"] == "Its session was deleted."
        assert found["best"] == 2


async def test_several_are_combined_in_a_new_session(home: Path, adding: Path) -> None:
    work = Work()

    def play(body: Body) -> Turn:
        if body["model"] == "fake" and "You compare attempts" not in str(body["messages"][0]["content"]):
            work.asked.append(text_of(body["messages"][-1]))
            return Turn(text="Combined.")
        return work(body)

    async with working(home, adding, play) as client:
        comparison_id = await begin(client)
        await until_done(client, comparison_id)
        async with client.events() as events:
            given = {"attempts": [2, 3], "text": "Keep the comment."}
            made = await client.post(f"/comparison/{comparison_id}/combine", given)
            await until(events, "session.idle", sessionID=made["sessionID"])
        history = await client.messages(made["sessionID"])
        files = [part["filename"] for part in parts_of(history, "file")]
        assert files == ["attempt-2.patch", "attempt-3.patch"]
        text = parts_of(history[:1], "text")[0]["text"]
        assert text.startswith("Keep the comment.")
        assert PROMPT in text
        assert "Attempt 3: 1 of 1 checks pass; 0 of 2 tests fail; Words on 3." in text
        assert "total = a + b" in work.asked[-1]
        session = await client.session(made["sessionID"])
        assert session["directory"] == str(adding)
        assert "Choose" in await refused(client.post(f"/comparison/{comparison_id}/take", {"attempts": [9]}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"prompt": " "}, "Say what is to be done"),
        ({"attempts": [{}]}, "2 to 12 attempts"),
        ({"attempts": [{}, {"agent": "nobody"}]}, "no agent nobody"),
        ({"attempts": [{}, {"model": {"providerID": "fake", "modelID": "none"}}]}, "none"),
        (
            {"attempts": [{}, {"model": {"providerID": "fake", "modelID": "fake", "variant": "x"}}]},
            "no variant",
        ),
        ({"checks": ["file: ../x"]}, "without .. in its path"),
        ({"judge": "fake/none"}, "none"),
        ({"atOnce": 0}, "work at once"),
        ({"id": "cmp_1"}, "no id"),
    ],
)
async def test_what_cannot_be_compared(home: Path, adding: Path, given: dict[str, Any], told: str) -> None:
    async with working(home, adding, Work()) as client:
        assert told in await refused(client.post("/comparison", {**terms(), **given}))
        assert await client.get("/comparison") == []


async def test_the_same_id_is_the_same_comparison(home: Path, adding: Path) -> None:
    async with working(home, adding, work := Work()) as client:
        comparison_id = ascending("cmp")
        for _ in range(2):
            await begin(client, id=comparison_id, judge="none", checks=[])
        found = await until_done(client, comparison_id)
        assert len(await client.get("/comparison")) == 1
        assert sorted(work.asked) == sorted(MODELS)
        assert len(found["attempts"]) == 3


async def test_a_project_without_a_commit_has_nothing_to_begin_with(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    async with working(home, folder, Work()) as client:
        assert "no git repository" in await refused(client.post("/comparison", terms()))
        git(folder, "init", "-q")
    async with working(home, folder, Work()) as client:
        assert "no commit yet" in await refused(client.post("/comparison", terms()))


# Crashes.


def check_rows(server: Server, found: Mapping[str, Any]) -> None:
    """Each attempt has one worktree, one session and one prompt that nobody waits for any more."""
    worktrees = git(server.project, "worktree", "list", "--porcelain").split("\n\n")
    assert len([block for block in worktrees if block.strip()]) == 1 + len(found["attempts"]), worktrees
    if "OPENCODE_WEB_DATABASE" in server.environment():
        return
    with sqlite3.connect(f"file:{server.data / 'db.sqlite3'}?mode=ro", uri=True) as database:
        counts = [
            database.execute(f"SELECT count(*) FROM opencode_sessions_{table}").fetchone()[0]  # noqa: S608
            for table in ("session", "admission", "admittedprompt")
        ]
    assert counts == [len(found["attempts"]), len(found["attempts"]), 0]


async def check_all(server: Server, client: Client, comparison_id: str) -> None:
    found = await until_done(client, comparison_id)
    assert [one["state"] for one in found["attempts"]] == ["measured"] * len(found["attempts"]), found
    for name, one in by_model(found).items():
        assert await prompts(client, one) == [PROMPT]
        assert (Path(one["directory"]) / "add.py").read_text() == MODELS[name]
        assert [check["passed"] for check in one["checks"]] == [name != "wrong"]
    assert found["best"] == 2
    check_rows(server, found)


async def crash(server: Server, point: str) -> str:
    """Begin a comparison on a server that kills itself at a point; its id."""
    dying = Server(
        server.home, server.project, server.config, {"CRASH_AT": point}, module="tests.runtime.crashing"
    )
    await asyncio.to_thread(dying.start)
    assert dying.process is not None
    comparison_id = ascending("cmp")
    async with dying.client() as client:
        with contextlib.suppress(httpx.HTTPError):  # the answer may never come
            await begin(client, id=comparison_id)
    assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9, dying.log()
    return comparison_id


POINTS = [
    "an attempt claimed",
    "an attempt's worktree made",
    "within an attempt's beginning",
    "an attempt begun",
    "within promotion",
    "promoted",
    "before a tool runs",
    "before a tool settles",
    "settled",
    "an attempt's turn ended",
    "an attempt's checks begin",
    "within a measure",
    "a measure written",
    "the judge is asked",
    "within a judgement",
]


@pytest.mark.parametrize("point", POINTS)
async def test_a_crash_repeats_no_attempt_and_forgets_none(home: Path, adding: Path, point: str) -> None:
    async with OpenAIServer(Work()) as model:
        server = Server(home, adding, models(model.base_url))
        comparison_id = await crash(server, point)
        async with running(server) as client:
            await check_all(server, client, comparison_id)


async def killed_at_random(home: Path, adding: Path, seed: int) -> None:
    """Kill the server at moments that nobody chose, until the comparison is done."""
    rng = random.Random(seed)
    async with OpenAIServer(Work()) as model:
        server = Server(home, adding, models(model.base_url))
        comparison_id = ascending("cmp")
        for kill in range(2):
            await asyncio.to_thread(server.start)
            async with server.client() as client:
                if kill == 0:
                    await begin(client, id=comparison_id)
                for _ in range(rng.randrange(40)):
                    if (await comparison(client, comparison_id))["state"] == "done":
                        break
            server.kill()
        async with running(server) as client:
            await check_all(server, client, comparison_id)


@pytest.mark.parametrize("seed", range(2))
async def test_killed_at_random_nothing_runs_twice(home: Path, adding: Path, seed: int) -> None:
    await killed_at_random(home, adding, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
async def test_killed_at_random_a_hundred_times(home: Path, adding: Path, seed: int) -> None:
    await killed_at_random(home, adding, seed)
