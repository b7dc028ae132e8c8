"""A client whose server is found or started when it is first needed, and again when it has gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self

from opencode_web.bridge.remote.client import IDEMPOTENT, SECONDS, Client, Event
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.launcher import Launcher, Wanted

logger = logging.getLogger(__name__)

MAX_RECONNECTIONS = 3


class Link:
    """Raises RemoteError. At most three times in its life is a server looked for again."""

    def __init__(self, wanted: Wanted) -> None:
        self.launcher = Launcher(wanted)
        self.reconnections = 0
        self._client: Client | None = None
        self._clients: list[Client] = []
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients:
            await client.aclose()
        await self.launcher.close()

    async def client(self) -> Client:
        """The client of the server there is now."""
        async with self._lock:
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        directory: str | None = None,
        seconds: float | None = SECONDS,
    ) -> Any:
        """See Client.request; once more with a new server where that is safe."""
        client = await self.client()
        given: dict[str, Any] = {"query": query, "body": body, "directory": directory, "seconds": seconds}
        try:
            return await client.request(method, path, **given)
        except RemoteError as error:
            if error.category != "unreachable":
                raise
            replaced = await self._replace(client, error)
            if error.sent and method not in IDEMPOTENT:
                raise RemoteError(
                    "unreachable", f"{error} Whether the request was carried out is not known."
                ) from error
        return await replaced.request(method, path, **given)

    async def get(self, path: str, query: Mapping[str, Any] | None = None, **options: Any) -> Any:
        return await self.request("GET", path, query=query, **options)

    async def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return await self.request("POST", path, body=body, **options)

    async def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return await self.request("PATCH", path, body=body, **options)

    async def events(self, directory: str | None = None) -> AsyncGenerator[Event]:
        """See Client.events: one stream, which may end."""
        client = await self.client()
        async with aclosing(client.events(directory)) as stream:
            async for event in stream:
                yield event

    async def _replace(self, gone: Client, error: RemoteError) -> Client:
        """The client that came after `gone`; many may find at once that it has gone."""
        async with self._lock:
            if self._client is gone:
                if self.reconnections >= MAX_RECONNECTIONS:
                    raise RemoteError(
                        "unreachable", f"{error} The server was looked for {MAX_RECONNECTIONS} times already."
                    ) from error
                self.reconnections += 1
                logger.warning("the server has gone: %s (reconnection %d)", error, self.reconnections)
                self._client = None  # not closed yet: others may be about to try it again
            if self._client is None:
                self._client = await self._connect()
            return self._client

    async def _connect(self) -> Client:
        where = await self.launcher.find()
        logger.info("connected to %s", where.url)
        client = Client(where.url, where.username, where.password, self.launcher.wanted.directory)
        self._clients.append(client)
        return client
