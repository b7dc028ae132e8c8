"""Asking a forge's interface over HTTP: bounded, with a time-out, and nothing that acts is sent twice."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin, urlsplit

from django.utils.translation import gettext, ngettext

from agents.forge.hosts import Host
from agents.forge.shapes import ForgeError, text
from agents.llm import bounded
from sessions.core.addresses import is_safe

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0
MOST = 8 * 1024 * 1024
PAGE = 30
"""Rows of a list that are shown at once."""
MOST_ROWS = 300
"""Comments and checks that are read of one item."""
_FULL = 100
"""Rows of a page of those."""
LOG_MOST = 64 * 1024 * 1024
_MOST_HOPS = 3
_WAITS = ("retry-after", "ratelimit-reset", "x-ratelimit-reset")
_LEFT = ("x-ratelimit-remaining", "ratelimit-remaining")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question: JSON, and whether a list goes on."""

    data: Any
    more: bool


class Rest:
    """The interface `api` of a forge, as long as it is entered. Every method raises ForgeError."""

    def __init__(self, host: Host, api: str, headers: Mapping[str, str]) -> None:
        self.host = host
        self.api = api
        self._headers = {"accept": "application/json", "user-agent": "opencode-web", **headers}
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        self._client = bounded.client(MOST, self._too_much, timeout=SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._client is not None
        await self._client.aclose()

    async def get(self, path: str, **query: str | int) -> Any:
        return (await self.ask("GET", path, query=query)).data

    async def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Something that acts: it is sent once."""
        return (await self.ask(method, path, body=body)).data

    async def all(self, path: str, *within: str, **query: str | int) -> list[Any]:
        """The rows of all pages of a list, at most `MOST_ROWS`; `within` an object they are at these keys."""
        found: list[Any] = []
        for page in range(1, MOST_ROWS // _FULL + 1):
            answer = await self.ask("GET", path, query={**query, **self._paging(page, _FULL)})
            data = answer.data
            for key in within:
                data = data.get(key) if isinstance(data, dict) else None
            found += data if isinstance(data, list) else []
            if not answer.more:
                break
        return found[:MOST_ROWS]

    async def page(self, path: str, page: int, **query: str | int) -> Answer:
        """One page of a list for people."""
        return await self.ask("GET", path, query={**query, **self._paging(page, PAGE)})

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        response = await self._sent(method, f"{self.api}{path}", query=query, body=body)
        for _ in range(_MOST_HOPS):
            if method != "GET" or not response.has_redirect_location:
                break
            url = urljoin(str(response.url), response.headers["location"])
            if urlsplit(url)[:2] != urlsplit(self.api)[:2]:
                raise ForgeError(
                    gettext("%(name)s leads to another address, where no token is sent.")
                    % {"name": self.host.name}
                )
            response = await self._sent(method, url)
        self._check(response)
        if response.has_redirect_location:
            raise ForgeError(gettext("The repository has moved. Change the address of the remote."))
        return Answer(self._json(response), 'rel="next"' in response.headers.get("link", ""))

    async def tail(self, path: str, most: int) -> str:
        """The last `most` bytes of a log. Where it lies elsewhere, no token is sent there."""
        import httpx  # 70 ms: not before the first log

        url, headers = f"{self.api}{path}", self._headers
        try:
            async with asyncio.timeout(SECONDS), bounded.client(None, timeout=SECONDS) as client:
                for _ in range(_MOST_HOPS + 1):
                    async with client.stream("GET", url, headers=headers) as response:
                        if response.has_redirect_location:
                            url = urljoin(url, response.headers["location"])
                            if not self._leads_out(url):
                                raise ForgeError(gettext("The log lies at an address that is not fetched."))
                            headers = {"user-agent": self._headers["user-agent"]}
                            continue
                        if response.status_code >= HTTPStatus.BAD_REQUEST:
                            await response.aread()
                            self._check(response)
                        return await self._end(response, most)
        except TimeoutError as error:
            raise ForgeError(
                gettext("The log did not come within %(seconds)s s.") % {"seconds": f"{SECONDS:g}"}
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise ForgeError(
                gettext("The log could not be fetched from %(name)s.") % {"name": self.host.name}
            ) from error
        raise ForgeError(gettext("%(name)s leads from one address to the next.") % {"name": self.host.name})

    def _leads_out(self, url: str) -> bool:
        """Whether a log may lie there: what is on this machine is for a forge on this machine."""
        parts = urlsplit(url)
        here = urlsplit(self.api).scheme == "http"
        return is_safe(parts.scheme, parts.hostname) and (parts.scheme == "https" or here)

    async def _end(self, response: httpx.Response, most: int) -> str:
        size, kept = 0, bytearray()
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > LOG_MOST:
                raise ForgeError(
                    gettext("The log has more than %(size)s MB.") % {"size": LOG_MOST // 1024**2}
                )
            kept += piece
            del kept[:-most]
        return kept.decode("utf-8", "replace")

    def _paging(self, page: int, size: int) -> dict[str, int]:
        return {"page": page, "limit" if self.host.kind == "forgejo" else "per_page": size}

    async def _sent(
        self, method: str, url: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> httpx.Response:
        import httpx  # 70 ms: not before the first question

        assert self._client is not None
        try:
            async with asyncio.timeout(SECONDS):
                return await self._client.request(
                    method, url, params=query or None, json=body, headers=self._headers
                )
        except TimeoutError as error:
            raise ForgeError(
                gettext("%(name)s did not answer within %(seconds)s s.")
                % {"name": self.host.name, "seconds": f"{SECONDS:g}"}
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError) as error:
            raise ForgeError(gettext("%(name)s could not be reached.") % {"name": self.host.name}) from error

    def _too_much(self, words: str) -> ForgeError:
        return ForgeError(f"{self.host.name} {words}.")

    def _json(self, response: httpx.Response) -> Any:
        if not response.content:
            return None
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError) as error:
            raise ForgeError(
                gettext("%(name)s answered with something that is no JSON.") % {"name": self.host.name}
            ) from error

    def _check(self, response: httpx.Response) -> None:
        """Raises ForgeError for what is no success."""
        status, name = response.status_code, self.host.name
        if status < HTTPStatus.BAD_REQUEST:
            return
        reason = self._reason(response)
        if status == HTTPStatus.TOO_MANY_REQUESTS or (
            status == HTTPStatus.FORBIDDEN and _is_limited(response)
        ):
            raise ForgeError(
                gettext("%(name)s takes no more requests for now%(until)s.")
                % {"name": name, "until": _until(response)}
            )
        if status == HTTPStatus.UNAUTHORIZED:
            raise ForgeError(
                gettext("%(name)s does not accept the token%(source)s.")
                % {"name": name, "source": self._source()}
                if self.host.token
                else gettext("%(name)s wants a token: add one to the accounts.") % {"name": name}
            )
        if status == HTTPStatus.FORBIDDEN:
            hint = (
                gettext("the token may lack a permission")
                if self.host.token
                else gettext("it may take a token")
            )
            raise ForgeError(
                gettext("%(name)s refuses this%(reason)s; %(hint)s.")
                % {"name": name, "reason": reason, "hint": hint}
            )
        if status == HTTPStatus.NOT_FOUND:
            unseen = gettext("or the token may not see it")
            hint = unseen if self.host.token else gettext("or it takes a token to see it")
            raise ForgeError(
                gettext("There is no such thing at %(name)s, %(hint)s.") % {"name": name, "hint": hint}
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ForgeError(
                gettext("%(name)s has an error of its own (status %(status)s).")
                % {"name": name, "status": status}
            )
        raise ForgeError(
            gettext("%(name)s did not do it%(why)s.") % {"name": name, "why": reason or f" (status {status})"}
        )

    def _source(self) -> str:
        match self.host.by:
            case "environment":
                return f" in {self.host.detail}"
            case "program":
                return f" that {self.host.detail} has"
        return ""

    def _reason(self, response: httpx.Response) -> str:
        """What it says, with a colon before it; empty where it says nothing."""
        try:
            data = json.loads(response.content)
        except (ValueError, RecursionError):
            return ""
        message = data.get("message") if isinstance(data, dict) else None
        listed = [text(message, 0)] if isinstance(message, list) else []
        nested = [text(data, "errors", 0, "message"), text(data, "errors", 0)]
        told = [text(data, "message"), *listed, text(data, "error_description"), text(data, "error"), *nested]
        words = "; ".join(dict.fromkeys(" ".join(each.split()) for each in told if each))[:300].rstrip(".")
        return f": {words}" if words else ""


def _is_limited(response: httpx.Response) -> bool:
    return any(response.headers.get(name) == "0" for name in _LEFT) or "retry-after" in response.headers


def _until(response: httpx.Response) -> str:
    """When it takes requests again: headers have seconds, or a moment in seconds since 1970."""
    for name in _WAITS:
        value = response.headers.get(name, "")
        if value.isdecimal() and len(value) < 13:
            seconds = int(value) if name == "retry-after" else int(value) - time.time()
            minutes = max(1, round(seconds / 60))
            words = ngettext(": again in %(count)s minute", ": again in %(count)s minutes", minutes)
            return words % {"count": minutes}
    return ""
