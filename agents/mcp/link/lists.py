"""Reading what a server offers: page by page, bounded. Wrong entries never come here (`sieve.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from mcp import Client, types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from agents.children.tail import Tail
from agents.mcp.offers import Offers

MOST = 1000
"""Of tools, and of each other kind."""
MOST_BYTES = 4 * 1024 * 1024
"""Of JSON, for each kind."""
_MOST_PAGES = 200
_MOST_INSTRUCTIONS = 64 * 1024

M = TypeVar("M", bound=BaseModel)


async def read(client: Client, log: Tail) -> Offers:
    """All that the server says it has. Raises MCPError when it does not list its tools."""
    has = client.server_capabilities
    tools = await _all(client.list_tools, "tools", types.Tool, log) if has.tools else ()
    prompts = await _tried(client.list_prompts, "prompts", types.Prompt, log) if has.prompts else ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    if has.resources:
        resources = await _tried(client.list_resources, "resources", types.Resource, log)
        listed = client.list_resource_templates
        templates = await _tried(listed, "resource_templates", types.ResourceTemplate, log)
    info = client.server_info
    return Offers(
        tools,
        prompts,
        resources,
        templates,
        (client.instructions or "")[:_MOST_INSTRUCTIONS],
        f"{info.name} {info.version}".strip() if info else "",
    )


async def _tried(
    listed: Callable[..., Awaitable[Any]], field: str, kind: type[M], log: Tail
) -> tuple[M, ...]:
    """A server may announce what it then does not serve; its tools are of use all the same."""
    try:
        return await _all(listed, field, kind, log)
    except (MCPError, ValidationError) as error:
        log.say(f"[{field} are not listed] {error}")
        return ()


async def _all(listed: Callable[..., Awaitable[Any]], field: str, kind: type[M], log: Tail) -> tuple[M, ...]:
    found: list[M] = []
    size = 0
    async for page in _pages(listed):
        for item in getattr(page, field):
            size += len(item.model_dump_json())
            if len(found) == MOST or size > MOST_BYTES:
                log.say(f"[{field} left out] after {len(found)}: there are more than {_bounds()}")
                return tuple(found)
            found.append(item)
    return tuple(found)


async def _pages(listed: Callable[..., Awaitable[Any]]) -> AsyncIterator[Any]:
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await listed(cursor=cursor)
        yield page
        if page.next_cursor in (None, cursor):
            return
        cursor = page.next_cursor


def _bounds() -> str:
    return f"{MOST}, or {MOST_BYTES >> 20} MB of them"
