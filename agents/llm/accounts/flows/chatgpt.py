"""ChatGPT at OpenAI: PKCE with a loopback redirect (RFC 7636, 8252), or a code entered on another page."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from agents.llm.accounts.endpoints import OpenAI, openai
from agents.llm.accounts.flows.base import (
    USER_AGENT,
    Begun,
    Flow,
    Inputs,
    Method,
    Refused,
    SignInFailed,
    Unreachable,
    milliseconds,
    seconds_in,
    text_in,
)
from agents.llm.accounts.flows.loopback import Loopback, Said
from agents.llm.accounts.flows.web import Answer, ask
from agents.llm.auth import Entry
from agents.llm.settings.domains import Controls
from agents.llm.types import ModelRequest
from sessions.core.sentences import Sentence

_SCOPE = "openid profile email offline_access"
_ORIGINATOR = "opencode"
_BROWSER_LASTS, _DEVICE_LASTS = 600.0, 900.0
_INTERVAL = 5.0
_TOKEN_LASTS = 3600.0
_PENDING = (403, 404)
_CLAIM = "https://api.openai.com/auth"
_NOT_TAKEN: Mapping[str, Any] = dict.fromkeys(("max_output_tokens", "temperature", "top_p"))
"""Fields that ChatGPT's interface refuses, unlike OpenAI's own."""


@dataclass(frozen=True, slots=True)
class _Pkce:
    """A secret and what is shown of it (RFC 7636, section 4, method S256)."""

    verifier: str

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


async def begin_in_browser(inputs: Inputs) -> Begun:
    """Listen on loopback and send the browser to OpenAI. Where the port is taken: by a code."""
    place, pkce, state = openai(), _Pkce(secrets.token_urlsafe(48)), secrets.token_urlsafe(32)
    redirect = Redirect(state)
    try:
        await redirect.listen(place.port)
    except OSError:
        redirect.close()
        return await begin_by_code(inputs)
    # OpenAI knows the application's address by this name.
    back = f"http://localhost:{place.port}{PATH}"
    query = {
        "response_type": "code",
        "client_id": place.client_id,
        "redirect_uri": back,
        "scope": _SCOPE,
        "code_challenge": pkce.challenge,
        "code_challenge_method": "S256",
        "id_token_add_organizations": "true",
        "codex_cli_simplified_flow": "true",
        "state": state,
        "originator": _ORIGINATOR,
    }
    return Begun(
        url=f"{place.auth}/oauth/authorize?{urlencode(query)}",
        instructions=Sentence("Sign in on the page that opens. It must be a browser on this machine."),
        finish=partial(_finish_in_browser, place, redirect, pkce, back),
        seconds=_BROWSER_LASTS,
        close=redirect.close,
    )


async def begin_by_code(_: Inputs) -> Begun:
    """Ask OpenAI for a code, to be entered in any browser."""
    place = openai()
    url = f"{place.auth}/api/accounts/deviceauth/usercode"
    answer = await ask("POST", url, body={"client_id": place.client_id})
    device = text_in(answer.data, "device_auth_id")
    code = text_in(answer.data, "user_code") or text_in(answer.data, "usercode")
    if not (answer.ok and device and code):
        raise SignInFailed(Sentence("OpenAI gave no code: %(reason)s", reason=answer.reason))
    interval = seconds_in(answer.data, "interval", _INTERVAL)
    return Begun(
        url=f"{place.auth}/codex/device",
        instructions=Sentence("Enter code: %(code)s", code=code),
        finish=partial(_finish_by_code, place, device, code, interval),
        seconds=_DEVICE_LASTS,
        code=code,
    )


async def renew(entry: Entry) -> Entry:
    """A new token for the refresh token, which may change with it."""
    place = openai()
    form = {
        "grant_type": "refresh_token",
        "refresh_token": entry["refresh"],
        "client_id": place.client_id,
        "scope": _SCOPE,
    }
    answer = await ask("POST", f"{place.auth}/oauth/token", form=form)
    if 400 <= answer.status < 500 and answer.status not in (408, 429):
        raise Refused(f"OpenAI: {answer.reason}")
    if not (answer.ok and text_in(answer.data, "access_token")):
        raise Unreachable(Sentence("OpenAI answered %(status)s.", status=answer.status))
    return {**entry, **_tokens({"refresh_token": entry["refresh"], **answer.data})}


def prepare(request: ModelRequest, entry: Entry) -> ModelRequest:
    account = entry.get("accountId")
    headers = {
        "user-agent": USER_AGENT,
        "originator": _ORIGINATOR,
        **({"chatgpt-account-id": account} if account else {}),
    }
    model = replace(
        request.model,
        base_url=openai().models,
        api_key=entry["access"],
        headers={**request.model.headers, **headers},
    )
    return replace(request, model=model, controls=Controls(), body={**request.body, **_NOT_TAKEN})


async def _finish_in_browser(place: OpenAI, redirect: Redirect, pkce: _Pkce, back: str) -> Entry:
    return await _exchanged(place, await redirect.code(), pkce.verifier, back)


async def _finish_by_code(place: OpenAI, device: str, code: str, interval: float) -> Entry:
    body = {"device_auth_id": device, "user_code": code}
    while True:
        await asyncio.sleep(interval)
        try:
            answer = await ask("POST", f"{place.auth}/api/accounts/deviceauth/token", body=body)
        except Unreachable:
            interval *= 2
            continue
        if answer.ok:
            break
        if answer.status not in _PENDING:
            raise SignInFailed(Sentence("OpenAI refused the sign-in: %(reason)s", reason=answer.reason))
    given, verifier = text_in(answer.data, "authorization_code"), text_in(answer.data, "code_verifier")
    return await _exchanged(place, given, verifier, f"{place.auth}/deviceauth/callback")


async def _exchanged(place: OpenAI, code: str, verifier: str, back: str) -> Entry:
    """The entry for a code (RFC 6749, section 4.1.3)."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": back,
        "client_id": place.client_id,
        "code_verifier": verifier,
    }
    answer = await ask("POST", f"{place.auth}/oauth/token", form=form)
    if not (_complete(answer)):
        raise SignInFailed(Sentence("OpenAI refused the sign-in: %(reason)s", reason=answer.reason))
    return {"type": "oauth", **_tokens(answer.data)}


def _complete(answer: Answer) -> bool:
    return answer.ok and all(text_in(answer.data, name) for name in ("access_token", "refresh_token"))


def _tokens(data: Mapping[str, Any]) -> dict[str, Any]:
    access = text_in(data, "access_token")
    account = _account(text_in(data, "id_token")) or _account(access)
    lasts = seconds_in(data, "expires_in", _TOKEN_LASTS)
    return {
        "refresh": text_in(data, "refresh_token"),
        "access": access,
        "expires": milliseconds() + int(lasts * 1000),
        **({"accountId": account} if account else {}),
    }


def _account(token: str) -> str:
    """The account that a token is of (RFC 7519); empty where it does not say. Nothing is decided by it, so
    the signature is not checked."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return text_in(claims, "chatgpt_account_id") or text_in(
            claims.get(_CLAIM) or {}, "chatgpt_account_id"
        )
    except (IndexError, ValueError, AttributeError):
        return ""


FLOW = Flow(
    name="ChatGPT",
    methods=(
        Method(
            "chatgpt-browser",
            Sentence("ChatGPT Pro/Plus (browser)"),
            Sentence("Sign in with ChatGPT"),
            begin_in_browser,
        ),
        Method(
            "chatgpt-headless",
            Sentence("ChatGPT Pro/Plus (headless)"),
            Sentence("Sign in with a code"),
            begin_by_code,
        ),
    ),
    renew=renew,
    prepare=prepare,
    rotates=True,
)


# The loopback address that a browser is sent back to with the code of one sign-in.

PATH = "/auth/callback"


class Redirect:
    """Waits for one redirect whose `state` is ours; any other is answered and forgotten."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._loopback = Loopback(PATH, self._answer)

    async def listen(self, port: int) -> None:
        """Raises OSError when the port is taken."""
        await self._loopback.listen(port)

    async def code(self) -> str:
        """The code, once. Raises SignInFailed with what the provider said instead."""
        return await self._code

    def close(self) -> None:
        self._loopback.close()
        self._code.cancel()

    async def _answer(self, given: Mapping[str, str]) -> Said:
        """Takes the code out of the right one."""
        if not secrets.compare_digest(given.get("state", "").encode(), self._state.encode()):
            return Said("400 Bad Request", "Not signed in", "This does not belong to a sign-in that waits.")
        if self._code.done():
            return Said("400 Bad Request", "Already used", "This address works once. Begin again.")
        if code := given.get("code", ""):
            self._code.set_result(code)
            text = "opencode-web shows whether the sign-in worked."
            return Said("200 OK", "You can close this tab", text)
        reason = given.get("error_description") or given.get("error") or "no code came back"
        self._code.set_exception(
            SignInFailed(Sentence("The sign-in was refused: %(reason)s", reason=reason[:300]))
        )
        return Said("200 OK", "Not signed in", "The sign-in was refused. You can close this tab.")
