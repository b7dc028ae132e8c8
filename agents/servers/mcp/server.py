"""An MCP server as the configuration has it (OpenCode's `mcp` block)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from agents.config.schema import McpConfig
from sessions.core.sentences import Sentence, joined

if TYPE_CHECKING:
    from mcp import types

REQUEST_SECONDS = 60.0
"""For an answer of a server, where nothing is configured. The same as in the SDK that OpenCode uses."""
START_SECONDS = 60.0
"""At least this long a server may take to start, whatever is configured for its answers: the first start of
an `npx` or `uvx` command installs a package, and nothing waits for it."""


@dataclass(frozen=True, slots=True)
class Server:
    """`timeout` is in seconds, for one answer. `oauth` is the configuration's block, empty without one, False
    where no sign-in is to be tried. `sampling`: the server may ask the session's model; `apps`: those of its
    tools are shown."""

    name: str
    kind: Literal["local", "remote"]
    command: tuple[str, ...] = ()
    cwd: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    sandbox: bool = False
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    oauth: Any = None
    timeout: float = REQUEST_SECONDS
    enabled: bool = True
    sampling: bool = False
    apps: bool = False

    @property
    def fingerprint(self) -> str:
        """The same for two entries that ask for the same connection."""
        matters = {key: value for key, value in asdict(self).items() if key not in ("name", "enabled")}
        return hashlib.sha256(json.dumps(matters, sort_keys=True).encode()).hexdigest()

    @property
    def start_timeout(self) -> float:
        """Seconds for it to start, shake hands and list what it has."""
        return max(self.timeout, START_SECONDS)


def parse(name: str, config: McpConfig, timeout: float = REQUEST_SECONDS) -> Server:
    """`timeout` is for an entry without one. Raises ValueError with the key that is wrong."""
    written: Mapping[str, Any] = config
    kind = written.get("type") or ("remote" if "url" in written else "local")
    common: dict[str, Any] = {
        "name": name,
        "timeout": written["timeout"] / 1000 if "timeout" in written else timeout,
        "enabled": written.get("enabled") is not False,
        "sampling": written.get("sampling") is True,
        "apps": written.get("apps") is True,
    }
    if kind == "remote":
        oauth = written.get("oauth")
        url = _url(written.get("url", ""))
        return Server(**common, kind="remote", url=url, headers=_pairs(written, "headers"), oauth=oauth)
    command = tuple(written.get("command", ()))
    if not command or not command[0]:
        raise ValueError("command: there is none to start")
    return Server(
        **common,
        kind="local",
        command=command,
        cwd=written.get("cwd", ""),
        environment=_pairs(written, "environment"),
        sandbox=written.get("sandbox") is True,
    )


def _url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url: it does not begin with http:// or https:// and a host")
    return url


def _pairs(written: Mapping[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in written.get(key, {}).items())


# How a connection to an MCP server stands.

Status = Literal["connected", "connecting", "disabled", "failed", "needs_auth", "needs_client_registration"]

_WITH_ERROR = ("failed", "needs_client_registration")


@dataclass(frozen=True, slots=True)
class State:
    """`error` is for people, and may quote what the server said."""

    status: Status
    error: str = ""

    @property
    def words(self) -> str:
        """Why nothing can be asked of the server, for whoever asks; empty where nothing is known of it."""
        if self.status == "needs_auth":
            words = Sentence("A person has to sign in to it first, on the page of servers.")
            return joined(filter(None, (words, self.error)), " ")
        return self.error

    def wire(self) -> dict[str, str]:
        """OpenCode's `MCPStatus`. That knows no `connecting`: like there, a server of which nothing is known
        yet is `disabled`."""
        if self.status == "connecting":
            return {"status": "disabled"}
        return {"status": self.status} | ({"error": self.error} if self.status in _WITH_ERROR else {})


CONNECTING = State("connecting")
CONNECTED = State("connected")
DISABLED = State("disabled")


@dataclass(frozen=True, slots=True)
class Offers:
    """In the server's order; bounded (`link/lists.py`)."""

    tools: tuple[types.Tool, ...] = ()
    prompts: tuple[types.Prompt, ...] = ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    instructions: str = ""
    version: str = ""
    """The server's name and version, as it says."""

    def differences(self, other: Offers) -> frozenset[str]:
        """The names of the fields in which they differ."""
        return frozenset(
            field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name)
        )


NOTHING = Offers()
