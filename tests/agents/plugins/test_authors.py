"""What authors import and write: the decorator, and where it can be imported from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from opencode_web.plugin import tool
from tests.server import ROOT


class Parameters(BaseModel):
    text: str


async def run(args: Any, context: Any) -> str:
    return ""


def test_a_definition_has_what_was_said() -> None:
    made = tool("echo", " Says it again. ", Parameters)(run)
    assert (made.name, made.description, made.run) == ("echo", "Says it again.", run)
    assert list(made.schema()["properties"]) == ["text"]
    assert tool("bare", "Takes nothing.")(run).schema()["type"] == "object"


@pytest.mark.parametrize("name", ["", "2x", "a b", "a.b", "ü", "a" * 65, "../x"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name for a tool"):
        tool(name, "Does.")


def test_what_cannot_be_a_tool_is_refused() -> None:
    wrong: Any
    for wrong in ({"type": "string"}, {}, "model", int, {"type": "object", "properties": {"x": object()}}):
        with pytest.raises((ValueError, TypeError)):
            tool("x", "Does.", wrong)
    with pytest.raises(ValueError, match="no description"):
        tool("x", " ")
    with pytest.raises(TypeError, match="async"):
        tool("x", "Does.")(lambda args, context: "now")  # type: ignore[arg-type, return-value]


def test_the_import_path_is_the_same_when_installed(tmp_path: Path) -> None:
    """As the wheel lays the rooms out (docs/decisions/0001)."""
    ignored = shutil.ignore_patterns("__pycache__", "_app")
    shutil.copytree(ROOT / "opencode_web", tmp_path / "opencode_web", ignore=ignored)
    for room in ("agents", "sessions"):
        shutil.copytree(ROOT / room, tmp_path / "opencode_web" / "_app" / room, ignore=ignored)
    code = "from opencode_web.plugin import tool; import agents; print(agents.__file__)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(tmp_path / "opencode_web" / "_app"))
