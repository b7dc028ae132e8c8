from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from agents.servers.browser import service
from agents.toolkit import scratch
from agents.toolkit.base import ToolResult
from agents.toolkit.sandbox import door
from agents.tools import browser
from sessions.core import paths, variables
from tests.agents.servers.browser.serving import Shop, serving
from tests.agents.tools.conftest import context as context
from tests.agents.tools.context import DirectContext


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Shop]:
    async with serving() as shop:
        yield shop


@dataclass(slots=True)
class Hand:
    """What an agent does with its browser."""

    context: DirectContext

    async def call(self, action: str, **given: Any) -> ToolResult:
        return await browser.execute(browser.Input.model_validate({"action": action, **given}), self.context)

    async def says(self, action: str, **given: Any) -> str:
        return (await self.call(action, **given)).output

    async def ref(self, label: str) -> str:
        """That of the first thing whose line has this label."""
        lines = (await self.says("look")).splitlines()
        line = next(line for line in lines if label in line and "[e" in line)
        return line.partition("[")[2].partition("]")[0]

    async def click(self, label: str, **given: Any) -> str:
        return await self.says("click", ref=await self.ref(label), **given)

    @property
    def asked(self) -> list[str]:
        """The sites that were asked about."""
        return [
            pattern for one in self.context.asked if one.permission == "browser" for pattern in one.patterns
        ]


@pytest_asyncio.fixture
async def hand(
    context: DirectContext, chromium_path: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Hand]:
    monkeypatch.setenv(variables.CHROMIUM.name, chromium_path)
    yield Hand(context)
    await service.close()
    await door.close()
    scratch.remove(paths.tool_output(), [context.session_id])
