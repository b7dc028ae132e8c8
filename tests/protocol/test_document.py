"""Our own document, `/doc`."""

from __future__ import annotations

import pytest

from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_it_is_an_openapi_document(served: Served) -> None:
    document = await served.get("/doc")
    assert document["openapi"] == "3.1.0"
    assert "/session/{sessionID}" in document["paths"]
    assert "/api/health" in document["paths"]


@pytest.mark.parametrize("path", ["/session/ses_1/nothing", "/api/nothing", "/experimental/nothing"])
async def test_an_unknown_operation_is_told_in_json(served: Served, path: str) -> None:
    answer = await served.ask("GET", path, status=404, departs="OpenCode answers its web page")
    assert path in (answer if path.startswith("/api") else answer["data"])["message"]
