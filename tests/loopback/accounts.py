"""Account servers on loopback: GitHub's device codes, Copilot's tokens, OpenAI's accounts.

    async with AccountServer() as accounts:
        accounts.plays("/login/oauth/access_token", PENDING, {"access_token": "gho_1"})

Each path plays its answers in order, the last one again and again. A request to a path that plays nothing is
answered with 404.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from tests.loopback.answering import AnsweringServer
from tests.loopback.wire import HttpRequest, json_response

DEVICE = "/login/device/code"
GITHUB_TOKEN = "/login/oauth/access_token"
EXCHANGE = "/copilot_internal/v2/token"
USER_CODE = "/api/accounts/deviceauth/usercode"
DEVICE_TOKEN = "/api/accounts/deviceauth/token"
OPENAI_TOKEN = "/oauth/token"

PENDING = {"error": "authorization_pending"}
SOON = 0.02
"""Seconds between two questions, in place of the five of a real server."""


@dataclass(frozen=True, slots=True)
class Status:
    """An answer that is not 200."""

    status: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """An answer that waits for `gate`; without one it never comes."""

    body: Mapping[str, Any]
    gate: asyncio.Event | None = None


Answer = Mapping[str, Any] | Status | Held


class AccountServer(AnsweringServer):
    """`environ` points a server under test here; requests are kept by path."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, deque[Answer]] = {}
        self._asked: dict[str, list[dict[str, Any]]] = {}
        self._heads: dict[str, list[Mapping[str, str]]] = {}
        self._changed = asyncio.Condition()
        self.forget()

    def forget(self) -> None:
        """What was asked and what is played: every provider gives a code, and no more."""
        self._answers.clear()
        self._asked.clear()
        self._heads.clear()
        self.plays(DEVICE, device_code())
        self.plays(USER_CODE, {"device_auth_id": "d", "user_code": "ABCD-1234", "interval": str(SOON)})

    @property
    def environ(self) -> dict[str, str]:
        enterprise = self.url + "/{domain}"
        return {
            "OPENCODE_WEB_GITHUB_URL": self.url,
            "OPENCODE_WEB_GITHUB_API_URL": self.url,
            "OPENCODE_WEB_GITHUB_ENTERPRISE_URL": enterprise,
            "OPENCODE_WEB_GITHUB_ENTERPRISE_API_URL": enterprise,
            "OPENCODE_WEB_COPILOT_ENTERPRISE_URL": enterprise,
            "OPENCODE_WEB_OPENAI_AUTH_URL": self.url,
        }

    def plays(self, path: str, *answers: Answer) -> None:
        self._answers[path] = deque(answers)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies, JSON or form, that came to a path."""
        return self._asked.get(path, [])

    def headers(self, path: str) -> list[Mapping[str, str]]:
        return self._heads.get(path, [])

    async def wait_for(self, path: str, n: int = 1, within: float = 10.0) -> None:
        """Return once `n` requests have come to a path."""
        async with asyncio.timeout(within), self._changed:
            await self._changed.wait_for(lambda: len(self.asked(path)) >= n)

    async def _note(self, request: HttpRequest) -> None:
        async with self._changed:
            self._asked.setdefault(request.path, []).append(_fields(request))
            self._heads.setdefault(request.path, []).append(request.headers)
            self._changed.notify_all()

    async def answer(self, request: HttpRequest) -> bytes:
        await self._note(request)
        answers = self._answers.get(request.path)
        if not answers:
            return json_response(404, {"message": "Not Found"})
        match answers.popleft() if len(answers) > 1 else answers[0]:
            case Status(status, body):
                return json_response(status, body)
            case Held(body, gate):
                await (gate or asyncio.Event()).wait()
                return json_response(200, body)
            case body:
                return json_response(200, body)


def device_code(**more: Any) -> dict[str, Any]:
    """What GitHub answers to who asks for a code."""
    given = {"device_code": "dev", "user_code": "WDJB-MJHT", "interval": SOON, "expires_in": 900}
    return {**given, "verification_uri": "https://github.com/login/device", **more}


def openai_tokens(n: int, **more: Any) -> dict[str, Any]:
    """The n-th answer of OpenAI's token endpoint, of the account `acc_1`."""
    claims = {"https://api.openai.com/auth": {"chatgpt_account_id": "acc_1"}}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    tokens = {"access_token": f"access-{n}-secret", "refresh_token": f"refresh-{n}-secret"}
    return {**tokens, "id_token": f"h.{payload}.s", "expires_in": 3600, **more}


def _fields(request: HttpRequest) -> dict[str, Any]:
    if "json" in request.headers.get("content-type", ""):
        return dict(json.loads(request.body))
    return dict(parse_qsl(request.body.decode()))
