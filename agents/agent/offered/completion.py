"""The resources that `@` in the composer offers, and what servers suggest for what is written."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.agent.offered.prompts import Argument, Prompt, prompts_of
from agents.agent.offered.resources import Resource, matching, words_of
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.hub import hub
from agents.servers.mcp.texts import clean, mime_of
from sessions.web.access import located

if TYPE_CHECKING:
    from mcp import Client

MOST_SHOWN = 12


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """The resources of the MCP servers of `?session=` or `?project=` that `?q=` names, as options."""
    directory = (await located(request.GET)).directory
    query = request.GET.get("q", "")
    found = await asyncio.to_thread(matching, directory, query, MOST_SHOWN)
    begun = await offers(directory, query, MOST_SHOWN)
    shown = [_option(one) for one in found] + [_begun(one) for one in begun]
    return render(request, "pickers/resources.html", {"resources": shown})


@require_GET
async def arguments(request: HttpRequest) -> HttpResponse:
    """What its server suggests for the argument at the end of `?written=` of the prompt `?name=`."""
    directory = (await located(request.GET)).directory
    prompt = (await asyncio.to_thread(prompts_of, directory)).get(request.GET.get("name", ""))
    at = writing(prompt, request.GET.get("written", "")) if prompt else None
    if prompt is None or at is None:
        return render(request, "pickers/arguments.html", {"options": []})
    options = [{"value": value, "words": at.put(value)} for value in await for_prompt(prompt, at)]
    return render(request, "pickers/arguments.html", {"options": options, "argument": at.argument})


def _option(resource: Resource) -> dict[str, str]:
    """`words` stand for the resource in the prompt, `part` is what they become."""
    return {
        "name": resource.name,
        "server": resource.server,
        "about": resource.description or resource.uri,
        "words": resource.words,
        "part": json.dumps(resource.part()),
    }


def _begun(offer: Offer) -> dict[str, str]:
    if offer.resource is not None:
        return {**_option(offer.resource), "about": offer.template.name}
    return {
        "name": f"{offer.template.name} …",
        "server": offer.template.server,
        "about": offer.template.uri,
        "words": offer.words,
    }


# Templates of resources, filled in while they are written behind `@server:` (RFC 6570, levels 1 and 2).

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


SECONDS = 2.0
"""That a server has: somebody is typing."""
MOST = 12
LONGEST = 200
"""Characters of a value; one that is longer is left out."""
_OPEN = re.compile(r'(?:"[^"]*|\S*)\Z')


@dataclass(frozen=True, slots=True)
class Writing:
    """The argument at the end of what is written, what there is of it, and the arguments before it. `named`:
    it is written as `name=value`."""

    argument: Argument
    begun: str
    before: Mapping[str, str]
    named: bool

    def put(self, value: str) -> str:
        """How a value is written in its place."""
        word = f"{self.argument.name}={value}" if self.named else value
        return f'"{word}"' if re.search(r"\s", word) or not word else word


def writing(prompt: Prompt, written: str) -> Writing | None:
    """None where no argument is left to be written."""
    open = _OPEN.search(written)
    assert open is not None
    word = open[0].removeprefix('"')
    before = prompt.given(written[: open.start()])
    known = {one.name: one for one in prompt.arguments}
    name, equals, value = word.partition("=")
    if equals and name in known:
        return Writing(known[name], value, before, named=True)
    left = [one for one in prompt.arguments if one.name not in before]
    return Writing(left[0], word, before, named=False) if left else None


async def for_prompt(prompt: Prompt, at: Writing) -> Sequence[str]:
    """The values that the server suggests; none where it knows none, fails, or takes too long."""
    reference = {"type": "ref/prompt", "name": prompt.name}
    return await _asked(prompt.connection, reference, at.argument.name, at.begun, at.before)


async def for_template(
    connection: Connection, template: str, name: str, begun: str, before: Mapping[str, str]
) -> Sequence[str]:
    """The same for a variable of a resource's template."""
    return await _asked(connection, {"type": "ref/resource", "uri": template}, name, begun, before)


async def _asked(
    connection: Connection, reference: Mapping[str, str], name: str, begun: str, before: Mapping[str, str]
) -> Sequence[str]:
    async def use(client: Client) -> Sequence[str]:
        if client.server_capabilities.completions is None:
            return ()
        types: Any = import_module("mcp.types")
        prompt = reference["type"] == "ref/prompt"
        kind = types.PromptReference if prompt else types.ResourceTemplateReference
        argument = {"name": name, "value": begun}
        answer = await client.complete(kind(**reference), argument, dict(before) or None)
        return answer.completion.values

    if connection.state.status != "connected":
        return ()
    try:
        found = await connection.call(use, SECONDS)
    except ServerFailed:
        return ()
    short = (value for value in found if value and len(value) <= LONGEST and value == clean(value))
    return [value for value in dict.fromkeys(short) if value != begun][:MOST]
