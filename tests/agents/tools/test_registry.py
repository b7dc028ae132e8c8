"""The table of tools, the todo tools and `invalid`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from agents.toolkit.names import NAMES
from agents.tools import invalid, todoread, todowrite
from agents.tools.registry import BUILTIN, Toolset
from tests.agents.tools.context import DirectContext, turn_in

ARGUMENTS = {
    "apply_patch": {"patchText"},
    "batch": {"tool_calls"},
    "codesearch": {"query", "limit"},
    "multiedit": {"filePath", "edits"},
    "plan_enter": set(),
    "plan_exit": set(),
    "question": {"questions"},
    "webfetch": {"url", "format", "timeout"},
    "websearch": {"query", "limit"},
    "bash": {"command", "timeout", "workdir", "description"},
    "edit": {"filePath", "oldString", "newString", "replaceAll"},
    "glob": {"pattern", "path"},
    "grep": {"pattern", "path", "include"},
    "invalid": {"tool", "error"},
    "list": {"path", "ignore"},
    "read": {"filePath", "offset", "limit"},
    "skill": {"name"},
    "task": {"description", "prompt", "subagent_type", "task_id", "command"},
    "todoread": set(),
    "todowrite": {"todos"},
    "write": {"filePath", "content"},
}


def test_the_names_are_known_without_the_tools() -> None:
    assert {tool.name for tool in BUILTIN} == NAMES


def test_the_model_sees_opencodes_names() -> None:
    turn = turn_in(Path("/"), Path("/"))
    assert {tool.name: set(tool.schema(turn).get("properties", {})) for tool in BUILTIN} == ARGUMENTS


def test_a_name_is_repaired_by_its_case_alone() -> None:
    tools = Toolset({tool.name: tool for tool in BUILTIN})
    assert tools.find("read").name == "read"
    assert tools.find("Read").name == "read"
    assert tools.find(" TodoWrite ").name == "todowrite"
    assert tools.find("reed").name == "invalid"


async def test_todos_are_replaced_whole_and_counted_while_open(context: DirectContext) -> None:
    items = [
        {"content": "a", "status": "completed", "priority": "high"},
        {"content": "b", "status": "in_progress", "priority": "low"},
        {"content": "c", "status": "pending", "priority": "medium"},
    ]
    written = await todowrite.execute(todowrite.Input.model_validate({"todos": items}), context)
    assert written.title == "2 todos"
    assert written.output == "The list is written: 1 completed, 1 in progress, 1 pending."
    stands = await todoread.execute(todoread.Input(), context)
    assert json.loads(stands.output) == items == stands.metadata["todos"] == written.metadata["todos"]
    assert stands.title == written.title
    await todowrite.execute(todowrite.Input(todos=[]), context)
    assert context.todos == []
    assert [asked.permission for asked in context.asked] == ["todowrite", "todoread", "todowrite"]
    with pytest.raises(ValidationError):
        todowrite.Input.model_validate({"todos": [{"content": "a", "status": "done"}]})


async def test_an_invalid_call_is_explained(context: DirectContext) -> None:
    result = await invalid.execute(invalid.Input(tool="reed", error="no such tool"), context)
    assert "reed" in result.output
    assert "no such tool" in result.output
