"""`/experimental`: consoles and workspaces that are not there, and moving a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protocol.served import Served
from tests.protocol.test_vcs import SHAPE

pytestmark = pytest.mark.asyncio(loop_scope="session")

MOVE = "/experimental/control-plane/move-session"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/experimental/capabilities", {"backgroundSubagents": False}),
        ("/experimental/console", {"consoleManagedProviders": [], "switchableOrgCount": 0}),
        ("/experimental/console/orgs", {"orgs": []}),
        ("/experimental/workspace", []),
        ("/experimental/workspace/adapter", []),
        ("/experimental/workspace/status", []),
    ],
)
async def test_what_a_client_asks_at_its_start(served: Served, path: str, expected: Any) -> None:
    assert await served.get(path) == expected


async def test_there_is_no_workspace_to_be_had(served: Served) -> None:
    answer = await served.post("/experimental/workspace", {"type": "worktree"}, status=400)
    assert answer["name"] == "WorkspaceCreateError"
    await served.post("/experimental/workspace/sync-list", status=204)
    departs = "OpenCode answers null for one that it does not know"
    assert await served.ask("DELETE", "/experimental/workspace/wrk_1", departs=departs) is None
    session = await served.session()
    body = {"id": "wrk_1", "sessionID": session}
    await served.post("/experimental/workspace/warp", body, status=404)
    await served.post("/experimental/workspace/warp", {**body, "id": None}, status=204)
    body = {"accountID": "a", "orgID": "b"}
    departs = "the document has no errors for it, OpenCode has this one"
    await served.post("/experimental/console/switch", body, status=400, departs=departs)


async def test_a_session_moves_within_its_project(served: Served) -> None:
    session, folder = await served.session(), str(served.server.project / "src")
    body = {"sessionID": session, "destination": {"directory": f"{folder}/../src/"}}
    await served.post(MOVE, body, status=204)
    assert (await served.get(f"/session/{session}"))["directory"] == folder


async def test_a_session_stays_in_its_project(served: Served, tmp_path: Path) -> None:
    session = await served.session()
    for known, directory in ((session, tmp_path), (session, tmp_path / "gone"), ("ses_gone", tmp_path)):
        body = {"sessionID": known, "destination": {"directory": str(directory)}}
        answer = await served.post(MOVE, body, status=400)
        assert answer["name"] == "MoveSessionError"
    assert (await served.get(f"/session/{session}"))["directory"] == str(served.server.project)
    answer = await served.post(MOVE, {"sessionID": session}, status=400, departs=SHAPE)
    assert answer["data"]["message"].startswith("destination")
