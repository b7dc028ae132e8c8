"""A browser that comes back from an authorization server: on a port of its own, or on this server's page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from urllib.parse import urlsplit

from agents.accounts.flows.loopback import Loopback, Said
from agents.mcp.oauth.attempts import arrived
from agents.mcp.oauth.errors import SignInFailed
from agents.mcp.oauth.settings import Back

_SECONDS = 60.0
"""That the browser waits to be told how it ended."""
UNKNOWN = Said(
    "404 Not Found",
    "This belongs to no sign-in",
    "It was used already, or five minutes have passed. Begin the sign-in again.",
)


class Listener:
    """Within it a browser is waited for; gives the address to name to the authorization server."""

    def __init__(self, where: Back) -> None:
        self._where = where
        self._loopback = Loopback(where.path, came_back)

    async def __aenter__(self) -> str:
        """Raises SignInFailed when the port is taken."""
        if self._where.port is None:
            return self._where.url
        try:
            port = await self._loopback.listen(self._where.port)
        except (OSError, OverflowError) as error:
            raise SignInFailed(
                f"Port {self._where.port}, where the browser is to come back to, cannot be used: {error}"
            ) from error
        return self._where.url if self._where.port else _with_port(self._where.url, port)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loopback.close()


async def came_back(query: Mapping[str, str]) -> Said:
    """What the person is told, once the sign-in that the query belongs to has ended."""
    attempt = arrived(query)
    if attempt is None:
        return UNKNOWN
    if attempt.task is not None:
        done = asyncio.run_coroutine_threadsafe(_ended(attempt.task), attempt.answer.get_loop())
        await asyncio.wrap_future(done)
    if attempt.status == "complete":
        text = f"You are signed in to the MCP server {attempt.server.name}. You can close this tab."
        return Said("200 OK", "Signed in", text)
    text = attempt.message or "opencode-web shows how it ends."
    return Said("200 OK", "Not signed in", f"{text} You can close this tab.")


async def _ended(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task}, timeout=_SECONDS)


def _with_port(url: str, port: int) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.hostname}:{port}").geturl()
