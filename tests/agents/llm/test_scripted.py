"""The demo model takes its tour through the real tools on a real folder."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.llm.readers import scripted
from agents.llm.types import (
    ChatMessage,
    Finish,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallContent,
    ToolInputDelta,
    ToolResultContent,
    ToolSpec,
)
from agents.toolkit.base import ToolError
from agents.toolkit.permission.errors import NotPermitted
from agents.tools.registry import BUILTIN
from tests.agents.llm.asking import events, joined, model, user
from tests.agents.tools.context import DirectContext, turn_in

TURN = turn_in(Path("/"), Path("/"))
SPECS = [
    ToolSpec(tool.name, tool.description, tool.schema(TURN)) for tool in BUILTIN if tool.name != "invalid"
]
TOOLS = {tool.name: tool for tool in BUILTIN}
DEMO = model(protocol="scripted", options={"delay": 0})
FILE = "OPENCODE_WEB_DEMO.md"


@pytest.fixture
def context(tmp_path: Path) -> DirectContext:
    for name in ("project/docs", "outputs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project/docs/README.md").write_text("Deep down\n")
    (tmp_path / "project/a b.py").write_text("x = 1\n")
    project = (tmp_path / "project").resolve()
    return DirectContext(project, project, tmp_path / "outputs", rejection="not today")


@pytest.fixture
def repository(context: DirectContext) -> DirectContext:
    subprocess.run(["git", "init", "-q"], cwd=context.directory, check=True)
    return context


async def tour(
    context: DirectContext, *, git: bool = False, tools: Sequence[ToolSpec] = SPECS
) -> tuple[list[ToolCall], list[list[ModelEvent]]]:
    """The calls and the events of each step, until the model ends its turn."""
    messages, calls, steps = [user("Whatever")], list[ToolCall](), list[list[ModelEvent]]()
    environment = f"Is directory a git repository: {'yes' if git else 'no'}"
    while len(steps) < 20:
        steps.append(await events(scripted.read, ModelRequest(DEMO, ["", environment], messages, tools)))
        made = [event for event in steps[-1] if isinstance(event, ToolCall)]
        if not made:
            return calls, steps
        calls += made
        called = [ToolCallContent(call.call_id, call.name, call.input or {}) for call in made]
        results = [await settled(call, context) for call in made]
        messages += [ChatMessage("assistant", called), ChatMessage("tool", results)]
    raise AssertionError("the tour has no end")


async def settled(call: ToolCall, context: DirectContext) -> ToolResultContent:
    tool = TOOLS[call.name]
    try:
        result = await tool.execute(tool.input.model_validate(call.input), context)
    except (ToolError, NotPermitted) as error:
        return ToolResultContent(call.call_id, call.name, str(error), is_error=True)
    return ToolResultContent(call.call_id, call.name, result.output)


def text(step: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in step if isinstance(event, TextDelta))


async def test_the_whole_tour(repository: DirectContext) -> None:
    context = repository
    (context.directory / "README.rst").write_text("Hello\n")
    calls, steps = await tour(context, git=True)
    names = [call.name for call in calls]
    assert names == ["list", "glob", "todowrite", "read", "write", "bash", "todowrite"]
    assert len({call.call_id for call in calls}) == len(calls)
    assert calls[3].input == {"filePath": "README.rst"}
    assert {asked.permission for asked in context.asked} >= {"edit", "bash"}
    assert context.written == [context.directory / FILE]
    assert [todo.status for todo in context.todos] == ["completed"] * 4
    assert "scripted demo" in text(steps[0])
    assert f"?? {FILE}" in text(steps[-1])
    assert "opencode.json" in text(steps[-1])
    finishes = [step[-1] for step in steps]
    assert all(isinstance(end, Finish) and end.usage.input and end.usage.output for end in finishes)
    assert [end.reason for end in finishes if isinstance(end, Finish)] == ["tool-calls"] * 6 + ["stop"]


async def test_the_second_tour_counts_in_the_file(context: DirectContext) -> None:
    await tour(context)
    calls, _ = await tour(context)
    assert [call.name for call in calls if call.name in ("read", "write", "edit")] == ["read", "read", "edit"]
    assert calls[3].input == {"filePath": "docs/README.md"}
    assert "Visits: 2\n" in (context.directory / FILE).read_text()


async def test_goes_on_after_a_refusal(context: DirectContext) -> None:
    context.decisions = {"edit": "reject", "bash": "deny"}
    calls, steps = await tour(context)
    assert [call.name for call in calls][-3:] == ["write", "bash", "todowrite"]
    assert not (context.directory / FILE).exists()
    assert text(steps[4]).startswith("You said no to `write`")
    assert "`bash` did not work out" in text(steps[5])
    assert [todo.status for todo in context.todos] == ["completed", "completed", "cancelled", "cancelled"]
    assert "| did not happen |" in text(steps[-1])


async def test_takes_what_is_there(context: DirectContext) -> None:
    for path in (context.directory / "docs/README.md", context.directory / "a b.py"):
        path.unlink()
    offered = [spec for spec in SPECS if spec.name in ("glob", "read", "bash")]
    calls, _ = await tour(context, tools=offered)
    assert [call.name for call in calls] == ["glob", "bash"]
    calls, steps = await tour(context, tools=())
    assert calls == []
    assert len(text(steps[0])) < 300


async def test_streams_small_pieces_of_the_same_answer(context: DirectContext) -> None:
    asked = ModelRequest(DEMO, [], [user("Hi")], SPECS)
    first, second = await events(scripted.read, asked), await events(scripted.read, asked)
    assert first == second
    texts = [event.text for event in first if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta)]
    assert max(map(len, texts)) < 60
    thought, end, said = joined(first)[:3]
    assert isinstance(thought, ReasoningDelta)
    assert isinstance(end, ReasoningEnd)
    assert isinstance(said, TextDelta)


async def test_an_earlier_turn_is_not_this_one() -> None:
    refused = ToolResultContent("demo_1_0", "bash", "The user rejected this call.", is_error=True)
    earlier = [
        ChatMessage("assistant", [ToolCallContent("demo_1_0", "bash", {}), TextContent("…")]),
        ChatMessage("tool", [refused]),
    ]
    given = await events(scripted.read, ModelRequest(DEMO, [], [user("Hi"), *earlier, user("Again")], SPECS))
    assert [event.name for event in given if isinstance(event, ToolCall)] == ["list", "glob"]
    assert "You said no" not in text(given)
