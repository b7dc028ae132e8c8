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
