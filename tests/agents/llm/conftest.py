"""What the direct readers keep open for the next request ends with a test's event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from agents.llm.readers import transport


@pytest_asyncio.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await transport.aclose()
