"""The `oauth` block of a server in the configuration, and where a browser is sent back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from agents.servers.mcp.errors import SignInFailed
from agents.servers.mcp.server import Server

CALLBACK = "/mcp/oauth/callback"
"""Of this server, and of OpenCode's."""
OPENCODE_PORT = 19876
"""Where OpenCode listens: the address that people have registered their clients with."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Client:
    """A client that was registered by hand; `id` is empty where there is none. `scope` is asked for instead
    of what the server suggests."""

    id: str = ""
    secret: str = field(default="", repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Back:
    """The address that the browser comes back to; `port` is where to listen for it, None where this server
    has it."""

    url: str
    port: int | None

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


def configured(server: Server) -> Client:
    block = _block(server)
    return Client(_text(block, "clientId"), _text(block, "clientSecret"), _text(block, "scope"))


def reason_against(server: Server) -> str:
    """Why nobody can sign in at a server; empty when somebody can."""
    if server.kind == "local":
        return f"MCP server {server.name} does not support OAuth"
    if server.oauth is False:
        return f"MCP server {server.name} does not support OAuth: its configuration has it off"
    if any(name.lower() == "authorization" for name, _ in server.headers):
        return f"MCP server {server.name} is sent the Authorization header of its configuration"
    return ""


def back(server: Server, own: str) -> Back:
    """Where a browser is sent back to; `own` is the address by which the person reaches this server, empty
    for none. Raises SignInFailed for a configured address that leads nowhere."""
    block = _block(server)
    if written := _text(block, "redirectUri"):
        return _written(written, own)
    port = block.get("callbackPort")
    if port is None and _text(block, "clientId"):
        port = OPENCODE_PORT
    if isinstance(port, int):
        return _written(f"http://127.0.0.1:{port}{CALLBACK}", own)
    return Back(f"{own}{CALLBACK}", None) if own else Back(f"http://127.0.0.1{CALLBACK}", 0)


def _written(url: str, own: str) -> Back:
    """This server is behind an address that is no loopback one: a proxy leads here."""
    try:
        parts, ours = urlsplit(url), urlsplit(own)
        port, our_port = parts.port, ours.port
    except ValueError as error:
        raise SignInFailed(gettext("oauth.redirectUri cannot be read.")) from error
    if parts.scheme == "http" and parts.hostname in _LOOPBACK and not (own and port == our_port):
        return Back(url, port or 80)
    if parts.scheme in ("http", "https") and parts.hostname and parts.path.endswith(CALLBACK):
        return Back(url, None)
    raise SignInFailed(
        gettext(
            "oauth.redirectUri has to be an http:// address of this machine, or one that "
            "leads to this server and ends in %(callback)s."
        )
        % {"callback": CALLBACK}
    )


def _block(server: Server) -> Mapping[str, Any]:
    return server.oauth if isinstance(server.oauth, Mapping) else {}


def _text(block: Mapping[str, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
