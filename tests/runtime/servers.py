"""What tests of MCP servers in whole turns wait for."""

from __future__ import annotations

from bench.client import Client
from tests.server import until


async def ready(client: Client, *tools: str) -> None:
    """Until the servers are there that have these tools."""
    async with client.events() as events:
        while not set(tools) <= set(await client.get("/experimental/tool/ids")):
            await until(events, "mcp.tools.changed")
