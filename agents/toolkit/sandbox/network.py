"""What the programs of a sandbox may reach of the network: each call asks for itself, once for each host."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context

from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.sandbox.proxy import Forbidden, Place
from agents.toolkit.shared.process import Pauses

PERMISSION, PRIVATE = "network", "private_address"
_DIRECT = "localhost,127.0.0.1,::1"

Ask = Callable[[str, Place], Awaitable[None]]
"""By a permission, and where to. Raises NotPermitted."""


class Call:
    """One that runs. `refused` are the hosts that it was kept from."""

    def __init__(self, ask: Ask) -> None:
        self.name = secrets.token_hex(8)
        self.pauses = Pauses()
        self.refused: dict[str, str] = {}
        self._ask = ask
        self._context = copy_context()  # the proxy's connections are none of the call
        self._asked: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def permit(self, place: Place) -> None:
        """Raises Forbidden."""
        key = PRIVATE if place.address else PERMISSION, place.host
        if key not in self._asked:
            self._asked[key] = asyncio.create_task(self._decide(key[0], place), context=self._context.copy())
        try:
            await asyncio.shield(self._asked[key])
        except NotPermitted as error:
            self.refused[place.host] = str(error)
            raise Forbidden(f"{place.host} may not be reached. {error}") from error

    async def _decide(self, permission: str, place: Place) -> None:
        with self.pauses.pause():
            await self._ask(permission, place)

    def end(self) -> None:
        """Nobody is asked any more."""
        for task in self._asked.values():
            task.cancel()

    def variables(self, port: int) -> Mapping[str, str]:
        """By which programs find the way out, in the spellings that there are. None of SOCKS: clients that
        do not speak it would not begin."""
        proxy = f"http://{self.name}:x@127.0.0.1:{port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        return {
            **dict.fromkeys(names, proxy),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), _DIRECT),
            "NODE_USE_ENV_PROXY": "1",
        }


class Lasting(Call):
    """One to which later calls talk: what it was kept from once it may reach when it is asked again."""

    async def permit(self, place: Place) -> None:
        try:
            await self._ask(PRIVATE if place.address else PERMISSION, place)
        except NotPermitted as error:
            raise Forbidden(f"{place.host} may not be reached. {error}") from error


class Calls:
    """Those that run in one sandbox, and what goes on after its call: nobody is asked for that."""

    def __init__(self) -> None:
        self._running: dict[str, Call] = {}
        self._after: Ask = _never

    @contextmanager
    def running(self, ask: Ask, after: Ask) -> Iterator[Call]:
        """`after` decides by itself for what it leaves in the background."""
        self._after = after
        call = Call(ask)
        self._running[call.name] = call
        try:
            yield call
        finally:
            del self._running[call.name]
            call.end()

    async def permit(self, name: str, place: Place) -> None:
        """`name` is what who asks calls itself: who says nothing is taken for the only one there is. Raises
        Forbidden."""
        call = self._running.get(name)
        if call is None and not name and len(self._running) == 1:
            (call,) = self._running.values()
        await (call or Call(self._after)).permit(place)


async def _never(permission: str, place: Place) -> None:
    raise NotPermitted("No call has begun.")
