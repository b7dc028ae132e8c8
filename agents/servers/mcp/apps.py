"""MCP Apps (`io.modelcontextprotocol/ui`, 2026-01-26): what a server says of the apps of its tools. It is
hostile. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.servers.mcp.texts import clean, text_of

EXTENSION = "io.modelcontextprotocol/ui"
MIME = "text/html;profile=mcp-app"
MOST_BYTES = 4 * 1024 * 1024
"""Of a document, and of an answer to an app."""
MOST_DOMAINS = 20
_MOST_ADDRESS = 1000
_DOMAIN = re.compile(r"(https|wss)://(\*\.)?([a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{1,62}(:\d{1,5})?")
_OURS = (".localhost", ".local", ".internal", ".home.arpa")
"""The ends of names on this machine or its network."""
_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'{resources}; "
    "style-src 'unsafe-inline'{resources}; img-src data: blob:{resources}; font-src data:{resources}; "
    "media-src data: blob:{resources}; connect-src {connect}; frame-src 'none'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; webrtc 'block'"
)

Audience = Literal["model", "app"]


def address_of(tool: Any) -> str:
    """Of the document of a tool's app; empty for a tool that has none."""
    meta = tool.meta or {}
    uri = _ui(meta).get("resourceUri") or meta.get("ui/resourceUri")
    return uri if isinstance(uri, str) and uri.startswith("ui://") and len(uri) <= _MOST_ADDRESS else ""


def is_for(tool: Any, audience: Audience) -> bool:
    """Whether a tool is there for the model, or for apps of its server; without a word for both."""
    named = _ui(tool.meta).get("visibility")
    return audience in named if isinstance(named, list) else True


@dataclass(frozen=True, slots=True)
class Document:
    """An app. `connect` and `resources` are what it wants to reach: origins, as a policy takes them."""

    html: str
    connect: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()

    @property
    def domains(self) -> list[str]:
        """All that it wants to reach, once each."""
        return list(dict.fromkeys([*self.connect, *self.resources]))

    @property
    def digest(self) -> str:
        """Of what it wants to reach; empty where that is nothing."""
        wanted = json.dumps([self.connect, self.resources])
        return hashlib.sha256(wanted.encode()).hexdigest()[:16] if self.domains else ""

    def policy(self, reach: bool) -> str:
        """Its Content-Security-Policy; nothing is reached without `reach`."""
        resources = "".join(f" {domain}" for domain in self.resources) if reach else ""
        connect = " ".join(self.connect) if reach else ""
        return _POLICY.format(resources=resources, connect=connect or "'none'")


def document_of(contents: Iterable[Any]) -> Document:
    """Of what reading the resource gave. Raises ValueError, for people, for what is no app."""
    for item in contents:
        if (item.mime_type or "").lower().replace(" ", "").replace('"', "") != MIME:
            continue
        html = text_of(item)
        if html is None or len(html) > MOST_BYTES:
            raise ValueError("its document cannot be read, or is too large")
        csp = _mapping(_ui(item.meta).get("csp"))
        return Document(clean(html), _domains(csp, "connectDomains"), _domains(csp, "resourceDomains"))
    raise ValueError(f"what the server gives is no {MIME}")


def _domains(csp: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Those that may be let through: names on the internet, encrypted. Anything else could be a part of a
    policy, or this server."""
    named = csp.get(key)
    found = named if isinstance(named, list) else []
    domains = dict.fromkeys(domain.lower().rstrip("/") for domain in found if isinstance(domain, str))
    return tuple(domain for domain in domains if _is_public(domain))[:MOST_DOMAINS]


def _is_public(domain: str) -> bool:
    host = domain.partition("://")[2].partition(":")[0]
    return _DOMAIN.fullmatch(domain) is not None and not host.endswith(_OURS)


def _ui(meta: Any) -> Mapping[str, Any]:
    return _mapping(_mapping(meta).get("ui"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
