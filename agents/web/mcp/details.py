"""What a server offers, and its log: the server's own text, bounded here and escaped by the templates."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.agent.offered.naming import prompt_names
from agents.agent.offered.tools import names_of
from agents.servers.mcp.apps import address_of, is_for
from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.hub import hub
from agents.servers.mcp.server import NOTHING
from agents.web.mcp.listing import Piece, Row, pairs
from sessions.core.sentences import message_of
from sessions.core.text import bounded, terminal
from sessions.rendering.html import html

if TYPE_CHECKING:
    from mcp.types import Tool

MAX_WORDS = 600
MAX_TEXT = 128 * 1024
MAX_IMAGE = 4 * 1024 * 1024
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
RESOURCE_SECONDS = 30.0
LEFT_OUT = gettext_noop("not given to the model, the log says why")


@dataclass(frozen=True, slots=True)
class Log:
    text: str
    dropped: int

    @property
    def version(self) -> str:
        return f"{self.dropped}-{sha256(self.text.encode('utf-8', 'replace')).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Item:
    """A tool, a prompt or a resource. `key` is what the server is asked for, `name` how it is called here."""

    key: str
    name: str
    title: str
    description: str
    notes: Sequence[str] = ()

    @property
    def words(self) -> str:
        """What a search looks at."""
        return f"{self.key} {self.title} {self.description}".lower()


def pieces(row: Row, directory: Path) -> list[Piece]:
    """The parts of a server's details, each exchanged by itself. Blocks."""
    connection = row.connection
    offers = connection.offers if connection else NOTHING
    known = hub.connections(directory).values()
    called = names_of(known)
    commands = prompt_names((one.server.name, item.name) for one in known for item in one.prompts)
    shown: dict[str, dict[str, Any]] = {
        "tools": {"tools": [_tool(item, called.get((row.name, item.name), "")) for item in offers.tools]},
        "prompts": {
            "prompts": [_prompt(item, commands.get((row.name, item.name), "")) for item in offers.prompts]
        },
        "resources": {
            "resources": [_resource(item) for item in offers.resources],
            "templates": [_resource(item) for item in offers.templates],
        },
        "setup": _setup(row),
    }
    return [
        Piece(f"{row.place}-{name}", html(f"mcp/{name}.html", row=row, **context))
        for name, context in shown.items()
    ]


def tool(row: Row, name: str) -> Tool | None:
    tools = row.connection.tools if row.connection else ()
    return next((item for item in tools if item.name == name), None)


def schemas(tool: Tool) -> dict[str, str]:
    return {"input": _json(tool.input_schema), "output": _json(tool.output_schema)}


async def resource(row: Row, uri: str) -> dict[str, Any]:
    """`contents` to be shown, or the `problem`."""
    if row.connection is None:
        return {"problem": gettext("The server is not running.")}
    try:
        answer = await row.connection.call(lambda client: client.read_resource(uri), RESOURCE_SECONDS)
    except ServerFailed as failure:
        return {"problem": message_of(failure)}
    return {"contents": await asyncio.to_thread(lambda: [_content(item) for item in answer.contents[:20]])}


def log(row: Row) -> Log:
    tail = row.connection.log if row.connection else None
    return Log(terminal("\n".join(tail.lines())), tail.dropped) if tail else Log("", 0)


def _setup(row: Row) -> dict[str, Any]:
    server = row.connection.server if row.connection else None
    entry = row.entry
    return {
        "command": list(server.command) if server else entry.get("command"),
        "environment": pairs(entry.get("environment") or dict(server.environment if server else ())),
        "headers": pairs(entry.get("headers") or dict(server.headers if server else ())),
        "instructions": bounded(row.connection.instructions, limit=MAX_TEXT) if row.connection else "",
        "version": row.connection.offers.version if row.connection else "",
        "server": server,
    }


def _tool(item: Any, name: str) -> Item:
    """`name` is empty for one that no model is given."""
    hints = item.annotations
    notes = [] if name else [gettext(LEFT_OUT)]
    if not is_for(item, "model"):
        notes.append(gettext("for its apps alone"))
    elif address_of(item):
        notes.append(gettext("has an app"))
    if hints is not None and hints.read_only_hint:
        notes.append(gettext("only reads"))
    elif hints is not None and hints.destructive_hint:
        notes.append(gettext("may destroy"))
    return Item(item.name, name, _short(item.title), _short(item.description), notes)


def _prompt(item: Any, name: str) -> Item:
    notes = [
        argument.name if argument.required else gettext("%(name)s (optional)") % {"name": argument.name}
        for argument in item.arguments or ()
    ]
    return Item(item.name, name, _short(item.title), _short(item.description), notes)


def _resource(item: Any) -> Item:
    uri = getattr(item, "uri", None) or getattr(item, "uri_template", "")
    return Item(
        str(uri), item.name, _short(item.title or item.name), _short(item.description), [item.mime_type or ""]
    )


def _content(item: Any) -> dict[str, Any]:
    """`text`, an `image` as a data URL, or only the `size` in bytes."""
    kind = item.mime_type or ""
    text = getattr(item, "text", None)
    if text is not None:
        return {"uri": str(item.uri), "kind": kind, "text": bounded(text, limit=MAX_TEXT)}
    size = len(item.blob) * 3 // 4
    shown: dict[str, Any] = {"uri": str(item.uri), "kind": kind, "size": size}
    if kind in _IMAGES and size <= MAX_IMAGE and _is_base64(item.blob):
        shown["image"] = f"data:{kind};base64,{item.blob}"
    return shown


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _short(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]} …"


def _json(value: Any) -> str:
    return bounded(json.dumps(value, indent=2, ensure_ascii=False), limit=MAX_TEXT) if value else ""
