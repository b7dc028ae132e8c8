"""What a model is sent over a scripted bug fix in a real package: tokens, as bytes / 4 of messages and tools,
and how much of each request is a prefix that the provider has seen. OpenCode is asked for the same calls."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bench import project
from bench.lab import Lab
from bench.targets import OPENAI_COMPATIBLE
from bench.turns import TurnFailed
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn

SOUND = 'if word.endswith(".") and (i == last_index or not words[i + 1][0].islower()):'
BROKEN = 'if word.endswith("."):'
TEST = """from click.utils import _make_default_short_help


def test_a_period_before_a_lowercase_word_ends_no_sentence():
    assert _make_default_short_help("Compare one vs. the other. Then stop.") == "Compare one vs. the other."


def test_the_first_sentence_is_taken():
    assert _make_default_short_help("Say it. And more.") == "Say it."
"""
RUN = "PYTHONPATH=src python -m pytest -p no:cacheprovider tests/test_short_help.py"
ANSWER = "The period of an abbreviation no longer ends the short help."


async def measure(lab: Lab) -> dict[str, float]:
    folder = lab.folder / "click"
    if not folder.exists():
        _build(folder)
    fix = [*_fix(folder), Turn(text=ANSWER)]
    look = [_calls(_read(folder, "src/click/utils.py", 55, 40)), Turn(text="The condition is too short.")]
    async with OpenAIServer([*fix, *look, *look]) as model:
        async with lab.server(folder=folder, config=_configuration(model.base_url)) as server:
            first = (await server.client.create_session())["id"]
            answer = await server.client.prompt(first, "The short help ends at `vs.`. Mend it.")
            _check(folder, answer, len(model.requests), len(fix))
            second = (await server.client.create_session())["id"]
            await server.client.prompt(second, "How would you mend it?", agent="plan")
            await server.client.prompt(second, "Do so.", agent="build")
        bodies = [request.body for request in model.requests]
    fixed, planned = bodies[: len(fix)], bodies[len(fix) :]
    return {
        "fix of 15 steps, first request (tokens)": _tokens(fixed[0]),
        "fix of 15 steps, last request (tokens)": _tokens(fixed[-1]),
        "fix of 15 steps, least prefix kept (%)": _least_kept(fixed),
        "from plan to build, least prefix kept (%)": _least_kept(planned),
    }


def _build(folder: Path) -> None:
    """The package as it is installed, with one condition taken out, and a test that finds it."""
    sources = Path(click.__file__).parent
    shutil.copytree(sources, folder / "src/click", ignore=shutil.ignore_patterns("__pycache__"))
    utils = folder / "src/click/utils.py"
    text = utils.read_text()
    if SOUND not in text:
        raise TurnFailed("the package that is installed is not the one whose fix is scripted")
    utils.write_text(text.replace(SOUND, BROKEN))
    (folder / "tests").mkdir()
    (folder / "tests/test_short_help.py").write_text(TEST)
    project.commit(folder)


def _configuration(base_url: str) -> dict[str, Any]:
    """The bench's own model, at another address."""
    model = {"name": "Bench", "tool_call": True, "limit": {"context": 200_000, "output": 8192}}
    options = {"baseURL": base_url, "apiKey": "none"}
    return {"provider": {"bench": {"npm": OPENAI_COMPATIBLE, "options": options, "models": {"bench": model}}}}


def _fix(folder: Path) -> list[Turn]:
    """The calls of each step but the last."""
    utils, tests = "src/click/utils.py", "tests/test_short_help.py"
    todos = ["Find the cause", "Mend it", "Run the tests"]
    return [
        _calls(_todos(todos, done=0)),
        _calls(
            ToolUse("grep", {"pattern": "_make_default_short_help"}),
            ToolUse("glob", {"pattern": "tests/*.py"}),
        ),
        _calls(_read(folder, utils, 55, 60), _read(folder, tests)),
        _calls(_bash(f"{RUN} -q", "Run the tests of the short help")),
        _calls(_edit(folder, utils, 'if word.endswith(".") or i == last_index:', SOUND)),
        _calls(_read(folder, utils, 76, 16)),
        _calls(_edit(folder, utils, BROKEN, SOUND)),
        _calls(_bash(f"{RUN} -q", "Run the tests of the short help")),
        _calls(_bash("git diff", "Show what has changed")),
        _calls(ToolUse("grep", {"pattern": "short_help", "path": str(folder / "src/click/core.py")})),
        _calls(_read(folder, "src/click/core.py", 1235, 40)),
        _calls(_read(folder, "src/click/formatting.py", 1, 120)),
        _calls(_bash(f"{RUN} -v", "Run the tests, each by its name")),
        _calls(_todos(todos, done=len(todos))),
    ]


def _calls(*uses: ToolUse) -> Turn:
    return Turn(tools=list(uses))


def _read(folder: Path, name: str, offset: int = 1, limit: int = 2000) -> ToolUse:
    return ToolUse("read", {"filePath": str(folder / name), "offset": offset, "limit": limit})


def _edit(folder: Path, name: str, old: str, new: str) -> ToolUse:
    return ToolUse("edit", {"filePath": str(folder / name), "oldString": old, "newString": new})


def _bash(command: str, description: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": description})


def _todos(contents: Sequence[str], done: int) -> ToolUse:
    status = ["completed" if at < done else "pending" for at in range(len(contents))]
    todos = [
        {"id": str(at), "content": content, "status": status[at], "priority": "medium"}
        for at, content in enumerate(contents)
    ]
    return ToolUse("todowrite", {"todos": todos})


def _check(folder: Path, answer: dict[str, Any], asked: int, steps: int) -> None:
    """Raises TurnFailed unless the fix was made in so many steps."""
    said = "".join(part.get("text", "") for part in answer["parts"])
    if asked != steps or said != ANSWER or SOUND not in (folder / "src/click/utils.py").read_text():
        raise TurnFailed(f"the fix was not made as it was scripted: {asked} requests, {said!r}")


def _tokens(body: Body) -> float:
    return (_size(body["messages"]) + _size(body["tools"])) / 4


def _least_kept(bodies: Sequence[Body]) -> float:
    """Of what a request holds, the share that the next one begins with; the smallest of all, in percent."""
    return min(map(_kept, bodies, bodies[1:]))


def _kept(earlier: Body, later: Body) -> float:
    if earlier["tools"] != later["tools"]:
        return 0.0
    tools, same = _size(earlier["tools"]), 0
    for one, other in zip(earlier["messages"], later["messages"], strict=False):
        if one != other:
            break
        same += _size(one)
    return 100 * (tools + same) / (tools + sum(map(_size, earlier["messages"])))


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
