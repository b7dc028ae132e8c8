"""Templates of resources, filled in while they are written behind `@server:` (RFC 6570, levels 1 and 2)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from agents.mcp.connection import Connection
from agents.mcp.hub import hub
from agents.mcp.offered.resources import Resource, words_of
from agents.mcp.offered.suggested import for_template
from agents.mcp.offered.texts import clean, mime_of

_VARIABLE = re.compile(r"\{(\+?)(\w+)\}")
_RESERVED = ":/?#[]@!$&'()*+,;="
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Template:
    """`uri` has variables in braces."""

    connection: Connection
    name: str
    uri: str
    mime: str
    description: str

    @property
    def server(self) -> str:
        return self.connection.server.name

    @property
    def start(self) -> str:
        """What stands before the first variable."""
        return self.uri.partition("{")[0]

    def resource(self, uri: str) -> Resource:
        return Resource(self.server, uri, uri, self.mime, self.description)


@dataclass(frozen=True, slots=True)
class Filled:
    """An address as far as it is written: `done` before the variable that is being written, `begun` of it,
    `then` what the template has behind it up to the next one. `rest`: there is a next one."""

    done: str
    name: str
    begun: str
    before: dict[str, str]
    then: str
    safe: str
    rest: bool

    def put(self, value: str) -> str:
        return f"{self.done}{quote(value, safe=self.safe)}{self.then}"


@dataclass(frozen=True, slots=True)
class Offer:
    """`resource` is None where there is more to be written: then `words` stand in the prompt."""

    template: Template
    words: str
    resource: Resource | None = None


async def offers(directory: Path, query: str, limit: int) -> list[Offer]:
    """For what is written behind `@`: templates to begin with, or values for the one that is begun."""
    found: list[Offer] = []
    for template in await asyncio.to_thread(_templates, directory):
        server, colon, written = query.partition(":")
        begun = bool(colon) and server == template.server and written.startswith(template.start)
        at = filled(template.uri, written) if begun else None
        if at is not None:
            found += await _values(template, at)
        elif query.lower() in f"{words_of(template.server, template.name)[1:]} {template.uri}".lower():
            found.append(Offer(template, f"@{template.server}:{template.start}"))
    return found[:limit]


def filled(uri: str, written: str) -> Filled | None:
    """None where the address is not of this template, or nothing is left to be written."""
    pieces = _VARIABLE.split(uri)  # text, operator, name, text, operator, ...
    done, left, before = pieces[0], written.removeprefix(pieces[0]), dict[str, str]()
    if not written.startswith(pieces[0]):
        return None
    for at in range(1, len(pieces), 3):
        operator, name, text = pieces[at : at + 3]
        safe = _RESERVED if operator else ""
        value, found, behind = left.partition(text) if text else (left, "", "")
        if not found:
            rest = at + 3 < len(pieces)
            whole = bool(operator) or "/" not in value
            return Filled(done, name, unquote(value), before, text, safe, rest) if whole else None
        before[name] = unquote(value)
        done, left = f"{done}{quote(before[name], safe=safe)}{text}", behind
    return None


async def _values(template: Template, at: Filled) -> list[Offer]:
    """What is written so far, and what the server suggests."""
    suggested = await for_template(template.connection, template.uri, at.name, at.begun, at.before)
    return [_offer(template, at, value) for value in ([at.begun] if at.begun else []) + list(suggested)]


def _offer(template: Template, at: Filled, value: str) -> Offer:
    uri = at.put(value)
    resource = None if at.rest else template.resource(uri)
    return Offer(template, resource.words if resource else f"@{template.server}:{uri}", resource)


def _templates(directory: Path) -> list[Template]:
    """Of all servers that were reached. Reads files and blocks."""
    return [one for connection in hub.connections(directory).values() for one in _of(connection)]


def _of(connection: Connection) -> Iterator[Template]:
    for one in connection.templates:
        uri = str(one.uri_template)
        plain = "{" in uri and not set("{}") & set(_VARIABLE.sub("", uri))
        if plain and len(uri) <= _LONGEST and uri == clean(uri) and not re.search(r"\s", uri):
            about = clean(one.description or "", 500)
            yield Template(connection, clean(one.name, 200), uri, mime_of(one.mime_type, ""), about)
