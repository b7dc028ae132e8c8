"""Which addresses the browser of a session may open: each site is asked about, some are for nobody."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any
from urllib.parse import urlsplit

from agents.toolkit.base import ToolContext, ToolError
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.sandbox.network import PERMISSION as NETWORK
from agents.toolkit.sandbox.network import PRIVATE
from agents.toolkit.sandbox.proxy import Forbidden, Place
from agents.toolkit.shared.process import Pauses
from sessions.core.platform.listeners import own_ports

PERMISSION = "browser"
LOOK_SECONDS = 2.0
"""How long it is remembered which ports are ours: a page asks for hundreds of files."""
_PORTS = {"http": 80, "https": 443}
_METADATA = frozenset(
    ("169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254", "192.0.0.192", "168.63.129.16")
)
"""Where clouds give a machine its keys; of them what is not link-local, too."""
_METADATA_NAMES = frozenset(("metadata.google.internal", "metadata.goog", "metadata", "instance-data"))


class Gate:
    """Of one browser. A person is asked within a call of the agent's alone: what a page wants to reach by
    itself, between calls, is decided by the rules.

    `confined`: the browser is in the sandbox, where nothing of this machine is reached.
    """

    def __init__(self, *, confined: bool) -> None:
        self.pauses = Pauses()
        """The time in which a person is waited for."""
        self._confined = confined
        self._permitted: set[str] = set()
        self._ctx: ToolContext | None = None
        self._context = Context()
        self._asks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._last: ToolContext | None = None
        self._looked: tuple[float, set[int]] | None = None

    @contextmanager
    def attended(self, ctx: ToolContext) -> Iterator[None]:
        """While a call of the agent's runs: it can ask."""
        self._ctx = self._last = ctx
        self._context = copy_context()  # its lease is that of its own turn, whoever hears what is asked
        try:
            yield
        finally:
            self._ctx = None
            for task in self._asks.values():
                task.cancel()
            self._asks.clear()

    @property
    def attending(self) -> bool:
        """Whether a call of the agent's runs."""
        return self._ctx is not None

    @property
    def asking(self) -> bool:
        """Whether a person is waited for."""
        return any(not task.done() for task in self._asks.values())

    async def admit(self, url: str, since: str = "") -> None:
        """Let a page be opened, and shown to the model; `since` is the page that leads there. Raises
        ToolError for what is for nobody, and NotPermitted."""
        await self._refuse(url)
        origin = origin_of(url)
        if origin in self._permitted and self._action(PERMISSION, origin) != "deny":
            return
        from_page = {"from": since} if since else {}
        await self._ask(PERMISSION, origin, {"url": url, **from_page})
        self._permitted.add(origin)

    def shows(self, origin: str) -> bool:
        """Whether what comes from there may be shown to the model."""
        return origin in self._permitted

    async def reach(self, permission: str, place: Place) -> None:
        """Let what a page loads be reached: the hosts of the sites that were permitted are. Raises
        NotPermitted."""
        if _is_metadata(place.host) or _is_metadata(place.address):
            raise NotPermitted("It is where clouds keep the keys of their machines.")
        denied = self._action(permission, place.host) == "deny"
        if permission == NETWORK and place.host in self._hosts() and not denied:
            return
        where = {"host": place.host, "port": place.port, "address": place.address}
        about = {"url": f"{place.host}:{place.port}", "command": "Chromium", "description": _LOADS}
        await self._ask(permission, place.host, {**about, **where})

    async def permit(self, call: str, place: Place) -> None:
        """As a proxy asks where there is no sandbox. Raises Forbidden."""
        try:
            if place.address or _is_metadata(place.host):
                await self.reach(PRIVATE, place)
        except NotPermitted as error:
            raise Forbidden(f"{place.host} may not be reached. {error}") from error

    async def serves(self, host: str, port: int) -> bool:
        """Whether a port of this machine itself may be reached: by a name of its loopback, and not ours."""
        if not is_loopback(host):
            return False
        now = time.monotonic()
        if self._looked is None or now - self._looked[0] > LOOK_SECONDS:
            self._looked = now, await asyncio.to_thread(own_ports)
        return port not in self._looked[1]

    async def _refuse(self, url: str) -> None:
        """Raises ToolError."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise ToolError(f"{url!r} is no address.") from error
        if parts.scheme not in _PORTS or not host:
            raise ToolError(f"Only addresses of http and https are opened, not {url[:200]!r}.")
        if parts.username or parts.password:
            raise ToolError("An address with a user name or password in it is not opened.")
        if _is_metadata(host):
            raise ToolError(f"{host} is not opened: it is where clouds keep the keys of their machines.")
        if host in ("0.0.0.0", "::"):  # noqa: S104 (it is refused)
            raise ToolError(f"{host} stands for every address of a machine. Open localhost instead.")
        if is_loopback(host):
            if not self._confined and not await self.serves(host, port):
                raise ToolError(
                    f"Port {port} is not opened: it is this program's own, where the person is signed in."
                )
        elif self._last is not None and self._last.turn.terms.sandbox == "offline":
            raise ToolError("The sandbox has no network: only what listens in it can be opened.")

    def _hosts(self) -> set[str]:
        return {urlsplit(origin).hostname or "" for origin in self._permitted}

    def _action(self, permission: str, pattern: str) -> str:
        rules = self._last.turn.rules if self._last is not None else ()
        return evaluate(permission, pattern, rules).action

    async def _ask(self, permission: str, pattern: str, metadata: Mapping[str, Any]) -> None:
        """Once for all that want the same at a time. Raises NotPermitted."""
        if self._ctx is None:
            if self._action(permission, pattern) != "allow":
                raise NotPermitted("No rule allows it, and nobody can be asked between two calls.")
            return
        key = permission, pattern
        if key not in self._asks:
            asking = self._asked(self._ctx, permission, pattern, metadata)
            self._asks[key] = asyncio.create_task(asking, context=self._context.copy())
        await asyncio.shield(self._asks[key])

    async def _asked(
        self, ctx: ToolContext, permission: str, pattern: str, metadata: Mapping[str, Any]
    ) -> None:
        with self.pauses.pause():
            await ctx.ask(permission, [pattern], always=[pattern], metadata=metadata)


_LOADS = "What the page in the agent's browser loads"


def origin_of(url: str) -> str:
    """Scheme, host and port; empty for what has none (`about:blank`)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not host:
        return ""
    place = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{place}:{port or _PORTS[parts.scheme]}"


def is_loopback(host: str) -> bool:
    """Whether a name stands for this machine's own loopback, and can stand for nothing else."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_metadata(host: str) -> bool:
    name = host.rstrip(".").lower()
    if name in _METADATA or name in _METADATA_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address.is_link_local or str(inner) in _METADATA
