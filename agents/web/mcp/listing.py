"""The servers of a folder as the page lists them: where each is written, and how it stands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from agents.config.configuration import load
from agents.config.redaction import redacted
from agents.config.written import Written, written
from agents.servers.mcp.apps import address_of
from agents.servers.mcp.connection import Connection
from agents.servers.mcp.hub import hub
from agents.servers.mcp.oauth import store
from agents.servers.mcp.oauth.attempts import Attempt, attempt_of
from agents.servers.mcp.server import Offers, State
from sessions.core.sentences import translate
from sessions.core.text import shown_output
from sessions.rendering.html import html

Scope = Literal["user", "project", "environment", "client"]
HELD = State("disabled")
MAX_ERROR = 4000
_WORDS = {
    "held": gettext_noop("Waits for your trust"),
    "waiting": gettext_noop("Waiting for you to sign in"),
    "connected": gettext_noop("Connected"),
    "connecting": gettext_noop("Connecting"),
    "disabled": gettext_noop("Disabled"),
    "failed": gettext_noop("Failed"),
    "needs_auth": gettext_noop("Needs you to sign in"),
    "needs_client_registration": gettext_noop("Needs a client id"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the page that is exchanged when it has another version."""

    id: str
    html: str

    @property
    def version(self) -> str:
        return sha256(self.html.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Row:
    """`entry` is as written in `file`, empty for what a client added; `held`: it waits for trust; `writable`:
    changes by the page go into that file."""

    name: str
    scope: Scope
    file: Path | None
    writable: bool
    held: bool
    entry: Mapping[str, Any]
    state: State
    connection: Connection | None
    signed_in: bool = False
    attempt: Attempt | None = None
    """The newest sign-in that was begun here."""

    @property
    def place(self) -> str:
        """The id of its row in the page."""
        return place_id(self.name)

    @property
    def remote(self) -> bool:
        server = self.connection.server if self.connection else None
        return server.kind == "remote" if server else "url" in self.entry

    @property
    def what(self) -> str:
        """Its command line or address, without secrets."""
        server = self.connection.server if self.connection else None
        url = server.url if server else str(self.entry.get("url") or "")
        command = server.command if server else self.entry.get("command")
        return address(url) if url else command_line(command if isinstance(command, Sequence) else ())

    @property
    def shows_apps(self) -> bool:
        return self.connection is not None and self.connection.server.apps

    @property
    def has_apps(self) -> bool:
        """Whether there is something to switch."""
        tools = self.connection.tools if self.connection else ()
        return self.shows_apps or any(map(address_of, tools))

    @property
    def said(self) -> str:
        """Its state in one word, for the style sheet and for what is read out."""
        return "held" if self.held else "waiting" if self.waiting else self.state.status

    @property
    def waiting(self) -> bool:
        """For the person to sign in."""
        return self.attempt is not None and self.attempt.status == "pending"

    @property
    def words(self) -> str:
        """The same for people."""
        return gettext(_WORDS[self.said])

    @property
    def offered(self) -> str:
        return counted(self.connection.offers) if self.connection else ""

    @property
    def error(self) -> str:
        failed = self.attempt.message if self.attempt and self.state.status == "needs_auth" else ""
        return shown_output(translate(failed or self.state.error), limit=MAX_ERROR)

    @property
    def head(self) -> Piece:
        """What changes by itself: the state, and what can be done about it."""
        return Piece(f"{self.place}-head", html("mcp/head.html", row=self))


def place_id(name: str) -> str:
    return f"server-{name.encode('utf-8', 'surrogatepass').hex()}"


def counted(offers: Offers) -> str:
    """How much a server offers, in words."""
    tools, prompts = len(offers.tools), len(offers.prompts)
    resources = len(offers.resources) + len(offers.templates)
    kinds = (
        (tools, ngettext("%(count)s tool", "%(count)s tools", tools)),
        (prompts, ngettext("%(count)s prompt", "%(count)s prompts", prompts)),
        (resources, ngettext("%(count)s resource", "%(count)s resources", resources)),
    )
    return ", ".join(words % {"count": count} for count, words in kinds if count)


def rows(directory: Path) -> list[Row]:
    """All that are configured or added, also those that wait for trust, by name. Reads files."""
    sources = [item for item in written(directory) if isinstance(item.values.get("mcp"), Mapping)]
    states, connections = hub.statuses(directory), hub.connections(directory)
    configured = load(directory).config.mcp
    names = dict.fromkeys([*(str(name) for item in sources for name in item.values["mcp"]), *states])
    found = []
    for name in names:
        layers = [item for item in sources if name in item.values["mcp"]]
        state = states.get(name)
        if name not in configured and state is not None:
            found.append(Row(name, "client", None, False, False, {}, state, connections.get(name)))
        else:
            found.append(_row(name, layers, state, connections.get(name)))
    found = [_with_sign_in(each) for each in found]
    return sorted(found, key=lambda row: (row.name.casefold(), row.name))


def row(directory: Path, name: str) -> Row | None:
    return next((found for found in rows(directory) if found.name == name), None)


def _with_sign_in(row: Row) -> Row:
    server = row.connection.server if row.connection else None
    if server is None or server.kind != "remote":
        return row
    return replace(row, signed_in=store.kept(server) is not None, attempt=attempt_of(server))


def _row(name: str, layers: Iterable[Written], state: State | None, connection: Connection | None) -> Row:
    """The nearest file that counts is where a person changes it."""
    known = list(layers)
    nearest = [item for item in known if state is None or not item.held] or known
    if not nearest:
        return Row(name, "environment", None, False, False, {}, state or HELD, connection)
    item = nearest[-1]
    entry = item.values["mcp"][name]
    scope: Scope = "project" if not item.own else "user" if item.file.is_absolute() else "environment"
    return Row(
        name=name,
        scope=scope,
        file=item.file,
        writable=item.writable,
        held=state is None,
        entry=entry if isinstance(entry, Mapping) else {},
        state=state or HELD,
        connection=connection,
    )


_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?\{(?:env|file):[^{}]+\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """A header or a variable. `value` is shown, and empty where it may be a secret; `kept`: there is one that
    is not shown."""

    name: str
    value: str = ""
    kept: bool = False


def pairs(written: Any) -> list[Pair]:
    """Of an object of strings as a file has it. A reference is no secret: it only says where that is."""
    found = written.items() if isinstance(written, Mapping) else ()
    return [_pair(str(name), str(value)) for name, value in found]


def _pair(name: str, value: str) -> Pair:
    return Pair(name, value) if _REFERENCE.fullmatch(value) else Pair(name, kept=True)


def command_line(command: Iterable[Any]) -> str:
    """As a shell would take it."""
    return shlex.join(map(str, command))


def address(url: str) -> str:
    """Without a password, and without the query, which may have a key."""
    try:
        query = urlsplit(url).query
    except ValueError:
        return "…"
    shown = str(redacted(url))
    return shown.replace(query, "…") if query else shown
