"""One short question to a provider's account server; its answer is JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.llm import bounded
from agents.llm.accounts.flows.base import USER_AGENT, Unreachable
from sessions.core.sentences import Sentence

SECONDS = 30.0
_MOST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` is empty where the answer was no JSON object."""

    status: int
    data: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """What an error answer says, for people: OAuth's description, a message, or the status."""
        error = self.data.get("error")
        inner = error.get("message") if isinstance(error, dict) else error
        told = (self.data.get("error_description"), self.data.get("message"), inner)
        said = next((text for text in told if isinstance(text, str) and text), "")
        return said[:300] or f"status {self.status}"


async def ask(
    method: str,
    url: str,
    *,
    body: Mapping[str, Any] | None = None,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """`body` is sent as JSON, `form` as a form. Redirects are not followed: a token goes where it was meant.

    Raises Unreachable when there is no answer within 30 s; its text names the host alone.
    """
    import httpx  # 70 ms: not before somebody signs in

    def too_much(words: str) -> Unreachable:
        return Unreachable(f"{host} {words}.")

    host = urlsplit(url).hostname or url
    sent = {"accept": "application/json", "user-agent": USER_AGENT, **(headers or {})}
    try:
        async with (
            asyncio.timeout(SECONDS),
            bounded.client(_MOST, too_much, timeout=SECONDS) as client,
        ):
            response = await client.request(method, url, json=body, data=form, headers=sent)
            return Answer(response.status_code, _object(response.content))
    except TimeoutError as error:
        raise Unreachable(
            Sentence("%(host)s did not answer within %(seconds)s seconds.", host=host, seconds=f"{SECONDS:g}")
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise Unreachable(Sentence("%(host)s could not be reached.", host=host)) from error


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
