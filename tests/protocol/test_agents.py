"""`/agent`, `/command` and `/skill`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGENT = """---
description: Reads.
mode: subagent
model: fake/fake
color: "#aabbcc"
steps: 3
permission:
  edit: deny
---
You read.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With an agent, a command and a skill in Markdown."""
    path = repository(tmp_path)
    for name, text in {
        "agent/reader.md": AGENT,
        "command/fix.md": "---\ndescription: Fixes.\nagent: reader\nmodel: fake/fake\n---\nFix $1.",
        "skill/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies up.\n---\nTidy.",
    }.items():
        (path / ".opencode" / name).parent.mkdir(parents=True, exist_ok=True)
        (path / ".opencode" / name).write_text(text)
    return path


async def test_agents(served: Served, project: Path) -> None:
    found = {agent["name"]: agent for agent in await served.get("/agent", directory=str(project))}
    assert {"build", "plan", "general", "title"} <= found.keys()
    assert found["build"]["native"]
    assert found["title"]["hidden"]
    reader = found["reader"]
    assert reader["model"] == {"providerID": "fake", "modelID": "fake"}
    assert (reader["mode"], reader["steps"], reader["color"]) == ("subagent", 3, "#aabbcc")
    assert reader["prompt"] == "You read."
    assert {"permission": "edit", "pattern": "*", "action": "deny"} in reader["permission"]


async def test_commands(served: Served, project: Path) -> None:
    found = {command["name"]: command for command in await served.get("/command", directory=str(project))}
    assert found["fix"] == {
        "name": "fix", "description": "Fixes.", "agent": "reader", "model": "fake/fake",
        "source": "command", "template": "Fix $1.", "hints": ["$1"],
    }  # fmt: skip
    assert found["tidy"]["source"] == "skill"
    assert "init" in found


async def test_skills(served: Served, project: Path) -> None:
    file = project / ".opencode" / "skill" / "tidy" / "SKILL.md"
    tidy = {"name": "tidy", "description": "Tidies up.", "location": str(file), "content": "Tidy."}
    assert tidy in await served.get("/skill", directory=str(project))
    file.write_text("---\nname: tidy\n---\n")
    left = await served.get("/skill", directory=str(project))
    assert [skill["name"] for skill in left] == ["opencode-web"], "the program's own"
