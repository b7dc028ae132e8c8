"""The world that states are reached in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.agents.forge.conftest import fill
from tests.e2e.access import (  # noqa: F401 - they fill STATES
    states,
    states_of_comparisons,
    states_of_forge,
    states_of_git,
    states_of_settings,
)
from tests.e2e.access.world import World, at_forge, staged
from tests.e2e.conftest import provokes, watch
from tests.loopback.forges import ForgeServer

ANEW = """
if (location.protocol === "http:" && origin !== "null" && !sessionStorage.begun) {
  const opened = Object.keys(localStorage).filter((key) => /^(layout|opened:|terminal:)/.test(key));
  for (const key of opened) localStorage.removeItem(key);
  sessionStorage.begun = "yes";
}
"""
"""A page does not begin with the files and the terminals that the state before it opened."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with ForgeServer() as forge, staged(tmp_path_factory.mktemp("access")) as stage:
        fill(forge)
        at_forge(stage, forge)
        context = await browser.new_context(reduced_motion="reduce")
        await context.add_init_script(ANEW)
        faults = watch(context)
        provokes(context, "/nothing/", "/mcp/oauth/callback")  # states that are told of by a 404
        world = World(stage, context, forge)
        await world.fill()
        yield world
        await context.close()
        assert faults == []
