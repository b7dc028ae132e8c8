"""`/experimental/tool`."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "OpenCode answers a bad query in a shape that its document does not have, and so do we"


async def test_the_tools_of_a_model(served: Served) -> None:
    found = await served.get("/experimental/tool", provider="fake", model="fake")
    by_id = {tool["id"]: tool for tool in found}
    assert {"bash", "read", "edit", "glob", "task"} <= by_id.keys()
    assert not {"apply_patch", "invalid"} & by_id.keys()
    for tool in found:
        assert tool["description"]
        Draft202012Validator.check_schema(tool["parameters"])
    assert "filePath" in by_id["read"]["parameters"]["properties"]
    assert {*by_id, "apply_patch", "invalid"} <= {*await served.get("/experimental/tool/ids")}


async def test_a_tool_that_is_denied_is_not_shown(served: Served, tmp_path: Path) -> None:
    project = str(repository(tmp_path))
    await served.ask("PATCH", "/config", {"permission": {"webfetch": "deny"}}, directory=project)
    asked = {"provider": "fake", "model": "fake", "directory": project}
    found = await served.get("/experimental/tool", **asked)
    assert "webfetch" not in {tool["id"] for tool in found}


@pytest.mark.parametrize(
    ("query", "key"),
    [({}, "provider"), ({"provider": "fake"}, "model"), ({"provider": "x", "model": "y"}, "model")],
)
async def test_a_model_that_nobody_has(served: Served, query: dict[str, str], key: str) -> None:
    problem = await served.get("/experimental/tool", status=400, departs=REFUSED, **query)
    assert key in problem["data"]["message"]
