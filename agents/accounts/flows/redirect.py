"""The loopback address that a browser is sent back to with the code (RFC 8252, sections 7.3 and 8.3)."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from html import escape
from urllib.parse import parse_qs, urlsplit

from agents.accounts.flows.base import SignInFailed

PATH = "/auth/callback"
_HOST = "127.0.0.1"
_SECONDS = 10.0
_HEAD = (
    "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncache-control: no-store\r\n"
    "content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\n"
    "connection: close\r\ncontent-length: {length}\r\n\r\n"
)
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>opencode-web</title>"
    "<meta name=color-scheme content='light dark'><h1>{title}</h1><p>{text}</p></html>"
)


class Redirect:
    """Waits for one redirect whose `state` is ours; any other is answered and forgotten."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    async def listen(self, port: int) -> None:
        """Raises OSError when the port is taken."""
        self._server = await asyncio.start_server(self._connected, _HOST, port, limit=16_384)

    async def code(self) -> str:
        """The code, once. Raises SignInFailed with what the provider said instead."""
        return await self._code

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._code.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, title, text = self._answer(head.partition(b"\r\n")[0].decode("latin-1"))
                page = _PAGE.format(title=escape(title), text=escape(text)).encode()
                writer.write(_HEAD.format(status=status, length=len(page)).encode() + page)
                await writer.drain()
        writer.close()

    def _answer(self, line: str) -> tuple[str, str, str]:
        """Status, title and text for a request line; takes the code out of the right one."""
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.rpartition(" ")[0])
        if method != "GET" or target.path != PATH:
            return "404 Not Found", "Not found", "There is nothing here."
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        if not secrets.compare_digest(given.get("state", "").encode(), self._state.encode()):
            return "400 Bad Request", "Not signed in", "This does not belong to a sign-in that waits."
        if self._code.done():
            return "400 Bad Request", "Already used", "This address works once. Begin again."
        if code := given.get("code", ""):
            self._code.set_result(code)
            return "200 OK", "You can close this tab", "opencode-web shows whether the sign-in worked."
        reason = given.get("error_description") or given.get("error") or "no code came back"
        self._code.set_exception(SignInFailed(f"The sign-in was refused: {reason[:300]}"))
        return "200 OK", "Not signed in", "The sign-in was refused. You can close this tab."
