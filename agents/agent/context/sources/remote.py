"""Instructions at an address: fetched once, then revalidated beside the turns."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agents.agent.context.source import Unavailable
from agents.agent.context.sources.files import Document, bounded
from agents.llm.bounded import client
from sessions.core.text import error_text

FETCH_SECONDS = 5.0
MAX_BODY = 1024 * 1024
PATIENCE_SECONDS = 30.0
"""An address that did not answer for so long counts as absent, so that no session waits for ever."""

RETRY_SECONDS = 1.0
FRESH_SECONDS = 60.0
GONE = (404, 410)

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Address:
    """What is known of one address. `answered` once it gave a text or said that there is none; times are
    those of `time.monotonic`."""

    document: Document | None = None
    answered: bool = False
    validators: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    wanted: float = 0.0
    tried: float = 0.0
    given_up: bool = False
    fetching: asyncio.Task[None] | None = None


class Remote:
    """The addresses of one process."""

    def __init__(self) -> None:
        self._known: dict[str, _Address] = {}

    async def document(self, url: str) -> Document | Unavailable | None:
        """The text there, cut at 64 KB; None when it says there is none, Unavailable while it does not
        answer. One that was given up gives a word about that."""
        address = self._known.get(url)
        if address is None:
            address = self._known[url] = _Address(wanted=time.monotonic())
        _fetch_when_due(url, address)
        if address.fetching and not address.answered and not address.given_up:
            await asyncio.shield(address.fetching)
        if address.answered:
            return address.document
        if time.monotonic() - address.wanted < PATIENCE_SECONDS:
            return Unavailable(f"Waiting for the instructions at {url}: {address.problem}.")
        if not address.given_up:
            address.given_up = True
            logger.warning("the instructions at %s are left out: %s", url, address.problem)
        return Document(url, "(These instructions could not be fetched; they are left out.)")


def _fetch_when_due(url: str, address: _Address) -> None:
    settled = address.answered or address.given_up
    pause = FRESH_SECONDS if settled else RETRY_SECONDS
    running = address.fetching is not None and not address.fetching.done()
    if not running and (not address.tried or time.monotonic() - address.tried >= pause):
        address.fetching = asyncio.get_running_loop().create_task(_fetch(url, address))


async def _fetch(url: str, address: _Address) -> None:
    """Bring the address up to date; what was fetched before stays when this fails."""
    import httpx  # 70 ms: not before the first address

    try:
        async with asyncio.timeout(FETCH_SECONDS):
            await _load(url, address)
        address.answered, address.problem = True, ""
    except TimeoutError:
        address.problem = f"no answer within {FETCH_SECONDS:g} s"
    except httpx.HTTPStatusError as error:
        address.problem = f"it answers {error.response.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        address.problem = error_text(error)
    address.tried = time.monotonic()


async def _load(url: str, address: _Address) -> None:
    async with (
        client(None, follow_redirects=True, timeout=FETCH_SECONDS) as asking,
        asking.stream("GET", url, headers=address.validators) as response,
    ):
        await _take(response, url, address)


async def _take(response: httpx.Response, url: str, address: _Address) -> None:
    """What an answer says of the address."""
    if response.status_code == 304:
        return
    if response.status_code in GONE:
        address.document, address.validators = None, {}
        return
    response.raise_for_status()
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY:
            break
    text = bounded(bytes(body))
    address.document = Document(url, text) if text else None
    tags = {"if-none-match": "etag", "if-modified-since": "last-modified"}
    address.validators = {ask: value for ask, told in tags.items() if (value := response.headers.get(told))}


remote = Remote()
