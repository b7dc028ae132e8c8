"""`/lsp` and `/formatter`."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, tmp_path: Path) -> str:
    path = repository(tmp_path)
    await served.ask("PATCH", "/config", {"formatter": True}, directory=str(path))
    return str(path)


async def test_formatters_are_on_where_they_are_installed_and_used(served: Served, project: str) -> None:
    assert await served.get("/formatter") == []
    tool = Path(project) / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    mine = {"command": [str(tool), "$FILE"], "extensions": [".txt"]}
    gone = {"command": ["/no/such/program"], "extensions": [".md"]}
    setting = {"formatter": {"mine": mine, "gone": gone, "gofmt": {"disabled": True}}}
    await served.ask("PATCH", "/config", setting, directory=project)
    found = {item["name"]: item for item in await served.get("/formatter", directory=project)}
    assert found["mine"] == {"name": "mine", "extensions": [".txt"], "enabled": True}
    assert found["gone"] == {"name": "gone", "extensions": [".md"], "enabled": False}
    assert found["biome"]["enabled"] is False
    assert "gofmt" not in found


async def test_there_are_no_language_servers(served: Served) -> None:
    assert await served.get("/lsp") == []
