"""Resources of MCP servers: listed, mentioned by `@`, and read when a prompt that has them is promoted (MCP,
server/resources)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from agents.agent.attachments.readers import Parts, Reading, said
from agents.agent.offered.connected import connections_of
from agents.agent.offered.results import Found
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.hub import hub
from agents.servers.mcp.texts import clean, is_for_models, mime_of
from agents.toolkit.shared.output import bound

if TYPE_CHECKING:
    from mcp import Client, types

NAME = "resources of MCP servers"
TEXT = "text/plain"
_BLANK = re.compile(r"[\s@]+")


@dataclass(frozen=True, slots=True)
class Resource:
    """`server` is its name in the configuration."""

    server: str
    name: str
    uri: str
    mime: str
    description: str

    @property
    def words(self) -> str:
        return words_of(self.server, self.name)

    def wire(self) -> dict[str, str]:
        """OpenCode's `McpResource`."""
        data = {
            "name": self.name,
            "uri": self.uri,
            "description": self.description,
            "mimeType": self.mime,
            "client": self.server,
        }
        return {key: value for key, value in data.items() if value or key in ("name", "uri", "client")}

    def part(self) -> dict[str, Any]:
        """The file part of a prompt, but for its place in the text."""
        source = {"type": "resource", "clientName": self.server, "uri": self.uri}
        return {"mime": self.mime or TEXT, "url": self.uri, "filename": self.name, "source": source}


def words_of(server: str, name: str) -> str:
    """What stands for a resource in a prompt, without blanks."""
    return "@" + _BLANK.sub("-", f"{server}:{name}").strip("-")


def resources_of(directory: Path) -> list[Resource]:
    """Of all servers that were reached, in their order. Reads files and blocks."""
    return [resource for one in hub.connections(directory).values() for resource in _of(one)]


def listing(directory: Path) -> dict[str, dict[str, str]]:
    """As `GET /experimental/resource` of OpenCode's API has them: by `server:uri`. Reads files and blocks."""
    return {f"{one.server}:{one.uri}": one.wire() for one in resources_of(directory)}


def matching(directory: Path, query: str, limit: int) -> list[Resource]:
    """Those with the words in their name, server or address; the ones that begin so first."""
    query = query.lower()
    found = [one for one in resources_of(directory) if query in f"{one.words[1:]} {one.uri}".lower()]
    return sorted(found, key=lambda one: not one.words[1:].lower().startswith(query))[:limit]


async def attached(reading: Reading, part: Mapping[str, Any]) -> Parts | None:
    """What a resource holds, in words before the part; pictures and PDFs as parts of their own. None for a
    part that is no resource."""
    source = part.get("source") or {}
    if source.get("type") != "resource":
        return None
    server, uri = str(source.get("clientName", "")), str(source.get("uri", ""))
    title = f"resource {clean(uri, 1000)} of the MCP server {clean(server, 100)}"
    try:
        found = await _read(reading.turn.directory, server, uri)
    except ServerFailed as failure:
        return [said(f"[The {title} is not included. {failure}]"), dict(part)]
    text = await asyncio.to_thread(bound, "\n\n".join(found.texts), Path(settings.TOOL_OUTPUT_DIR))
    words = [said(f"The user attached the {title}:\n{text.text}")] if text.text else []
    files = [{**part, "mime": one.mime, "url": one.url} for one in found.files if is_for_models(one.mime)]
    return [*words, *(files or [dict(part)])]


async def _read(directory: Path, server: str, uri: str) -> Found:
    """Raises ServerFailed."""
    connections = await connections_of(directory)
    if server not in connections:
        raise ServerFailed(f"There is no MCP server {clean(server, 100)!r}, or it is disabled.")

    async def use(client: Client) -> types.ReadResourceResult:
        return await client.read_resource(uri)

    result = await connections[server].call(use)
    return await asyncio.to_thread(_found, result)


def _found(result: types.ReadResourceResult) -> Found:
    found = Found()
    for contents in result.contents:
        found.contents(contents)
    if not result.contents:
        found.texts.append("[It is empty.]")
    return found


def _of(connection: Connection) -> Iterator[Resource]:
    for one in connection.resources:
        yield Resource(
            server=connection.server.name,
            name=clean(one.name or one.uri, 200),
            uri=clean(str(one.uri), 2000),
            mime=mime_of(one.mime_type, ""),
            description=clean(one.description or "", 500),
        )
