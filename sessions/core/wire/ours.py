"""What we tell beside OpenCode's document, and who is told it.

The shapes of the document are closed: a client that checks what it is answered refuses a field that is not
declared. So what is ours goes only to a client that asks for it by the header `X-Opencode-Web: 1`, in answers
and in the events of `/event` and `/global/event`. An operation adds a field to its answer where
`asked(request)` is true; what rows and events have is cut down by `session`, `part` and `event` for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.http import HttpRequest

HEADER = "X-Opencode-Web"
EVENTS = frozenset({"lsp.client.diagnostics", "plugin.failed"})
"""Types that the document has not."""

Wire = dict[str, Any]

_PROPERTIES: Mapping[str, frozenset[str]] = {
    "file.edited": frozenset({"sessionID", "messageID", "forSessionID"}),
    "message.part.delta": frozenset({"offset"}),
    "permission.asked": frozenset({"hash"}),
}
"""By the type of an event."""
_SESSION = frozenset({"staging", "preset", "folders"})
_COMPACTION = frozenset({"metadata"})


def asked(request: HttpRequest) -> bool:
    """Whether a client wants what the document does not declare."""
    return request.headers.get(HEADER) == "1"


def session(info: Wire) -> Wire:
    """A session as the document has it; the same object where nothing is ours. So are the others."""
    return _without(info, _SESSION)


def part(data: Wire) -> Wire:
    return _without(data, _COMPACTION) if data["type"] == "compaction" else data


def entry(found: Wire) -> Wire:
    """A message with its parts."""
    return {**found, "parts": [part(data) for data in found["parts"]]}


def event(type: str, properties: Wire) -> Wire:
    """The properties of an event."""
    if type == "message.part.updated":
        return _with(properties, "part", part(properties["part"]))
    if type in ("session.created", "session.updated", "session.deleted"):
        return _with(properties, "info", session(properties["info"]))
    return _without(properties, _PROPERTIES.get(type, frozenset()))


def _with(data: Wire, name: str, value: Wire) -> Wire:
    return data if value is data[name] else {**data, name: value}


def _without(data: Wire, names: frozenset[str]) -> Wire:
    return data if names.isdisjoint(data) else {name: data[name] for name in data if name not in names}
