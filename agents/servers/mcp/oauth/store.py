"""What is kept of sign-ins: `mcp-auth.json` in OpenCode's format, an object of entries by the server's name.

    {"tokens": {"accessToken": "…", "refreshToken": "…", "expiresAt": 0, "scope": "…"},
     "clientInfo": {"clientId": "…", "clientSecret": "…"}, "serverUrl": "…",
     "authorization": {"tokenEndpoint": "…", "resource": "…", "method": "…"}}

`expiresAt` is in seconds since 1970. `authorization` is ours: where a token may be renewed, and how; OpenCode
passes over it. An entry counts for exactly the URL it was made for. The first file is ours; OpenCode's own is
read, and never renewed from: many servers take a refresh token once only, so that OpenCode would be signed
out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings

from agents.llm.auth import read_entries, remove_key, save, swap
from agents.servers.mcp.server import Server
from sessions.core.platform.stamps import Stamp, stamp

FILE = "mcp-auth.json"
LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Kept:
    """`expires` is in seconds since 1970, 0 where nobody said; `method` is how the client shows itself to
    `token_endpoint`, and `resource` what the token is for (RFC 8707)."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires: float = 0.0
    scope: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    token_endpoint: str = ""
    resource: str = ""
    method: str = ""


def files() -> list[Path]:
    """Ours, then OpenCode's."""
    return [path.with_name(FILE) for path in settings.AUTH_FILES]


def kept(server: Server) -> Kept | None:
    """What is kept for this server at this URL. Blocks."""
    own = _of(read_entries(files()[:1], _is_entry), server)
    if own is not None:
        return own
    theirs = _of(read_entries(files(), _is_entry), server)
    return replace(theirs, refresh="") if theirs is not None else None


async def changed() -> None:
    """Until something else is kept than now, by whichever process: the command line signs in too."""
    before = await asyncio.to_thread(_stamps)
    while await asyncio.to_thread(_stamps) == before:  # noqa: ASYNC110 (other processes set no event here)
        await asyncio.sleep(LOOK_SECONDS)


def keep(server: Server, what: Kept) -> None:
    """In our file, which has mode 600. Raises BrokenFile and OSError. Blocks."""
    name = _name(read_entries(files()[:1], _is_entry), server)
    save(files()[0], name, {**_written(what), "serverUrl": server.url})


def exchange(server: Server, old: Kept, new: Kept | None) -> None:
    """`new` (None: nothing) in the place of what is ours and still `old`. Raises as `keep`. Blocks."""
    entries = read_entries(files()[:1], _is_entry)
    if _of(entries, server) == old:
        name = _name(entries, server)
        made = {**entries[name], **_written(new)} if new is not None else None
        swap(files()[0], name, entries[name], made)


def forget(server: Server) -> bool:
    """Whether there was something to forget in our file. Raises as `keep`. Blocks."""
    entries = read_entries(files()[:1], _is_entry)
    name = _name(entries, server)
    remove_key(files()[0], name)
    return name in entries


def lock_file(server: Server) -> Path:
    """Whoever has it locked, of all processes, may renew this server's token."""
    name = sha256(f"{server.name}\0{server.url}".encode()).hexdigest()[:16]
    return files()[0].with_name(f".mcp-auth-{name}.lock")


def _stamps() -> list[Stamp]:
    """Changes whenever one of the files is written."""
    return [stamp(path) for path in files()]


def _of(entries: Mapping[str, Any], server: Server) -> Kept | None:
    entry = entries.get(_name(entries, server), {})
    found = _read(entry) if entry.get("serverUrl") == server.url else None
    return found if found is not None and found.access else None


def _name(entries: Mapping[str, Any], server: Server) -> str:
    """The key of a server: its name, or another where a server at another URL has that already."""
    taken = server.name in entries and entries[server.name].get("serverUrl") != server.url
    other = f"{server.name} {server.url}"
    return other if taken or other in entries else server.name


def _is_entry(entry: Any) -> bool:
    parts = ("tokens", "clientInfo", "authorization")
    return isinstance(entry, dict) and all(isinstance(entry.get(part, {}), dict) for part in parts)


def _read(entry: Mapping[str, Any]) -> Kept:
    tokens, client = entry.get("tokens", {}), entry.get("clientInfo", {})
    place = entry.get("authorization", {})
    expires = tokens.get("expiresAt")
    return Kept(
        access=_text(tokens, "accessToken"),
        refresh=_text(tokens, "refreshToken"),
        expires=float(expires) if isinstance(expires, int | float) else 0.0,
        scope=_text(tokens, "scope"),
        client_id=_text(client, "clientId"),
        client_secret=_text(client, "clientSecret"),
        token_endpoint=_text(place, "tokenEndpoint"),
        resource=_text(place, "resource"),
        method=_text(place, "method"),
    )


def _written(what: Kept) -> dict[str, Any]:
    tokens = {
        "accessToken": what.access,
        "refreshToken": what.refresh,
        "expiresAt": what.expires,
        "scope": what.scope,
    }
    client = {"clientId": what.client_id, "clientSecret": what.client_secret}
    place = {"tokenEndpoint": what.token_endpoint, "resource": what.resource, "method": what.method}
    parts: dict[str, dict[str, Any]] = {"tokens": tokens, "clientInfo": client, "authorization": place}
    return {name: {key: value for key, value in part.items() if value} for name, part in parts.items()}


def _text(part: Mapping[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""
