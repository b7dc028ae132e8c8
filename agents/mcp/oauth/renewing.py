"""A new token for a refresh token (RFC 6749 §6), which goes to the address that it was made at and no
other."""

from __future__ import annotations

import base64
import time
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2

from agents.accounts.flows.base import seconds_in, text_in
from agents.mcp.oauth.errors import Ended, Unreachable
from agents.mcp.oauth.store import Kept
from agents.mcp.oauth.web import client
from agents.mcp.server import Server

_LATER = (408, 429)


async def renewed(server: Server, old: Kept) -> Kept:
    """Raises Ended when the sign-in is over, Unreachable and Unfit when it may not be."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": old.refresh,
        "client_id": old.client_id,
        **({"resource": old.resource} if old.resource else {}),
        **({"client_secret": old.client_secret} if old.method == "client_secret_post" else {}),
    }
    headers = _basic(old) if old.method == "client_secret_basic" else {}
    async with client(server) as web:
        response = await web.post(old.token_endpoint, data=form, headers=headers)
    answer = _object(response)
    if 400 <= response.status_code < 500 and response.status_code not in _LATER:
        said = text_in(answer, "error_description") or text_in(answer, "error")
        raise Ended(said[:300] or f"status {response.status_code}")
    access = text_in(answer, "access_token")
    if not (response.is_success and access):
        raise Unreachable(f"The authorization server answered {response.status_code}.")
    lasts = seconds_in(answer, "expires_in", 0.0)
    return replace(
        old,
        access=access,
        refresh=text_in(answer, "refresh_token") or old.refresh,
        expires=time.time() + lasts if lasts else 0.0,
        scope=text_in(answer, "scope") or old.scope,
    )


def _basic(old: Kept) -> dict[str, str]:
    """RFC 6749 §2.3.1."""
    shown = f"{quote(old.client_id, safe='')}:{quote(old.client_secret, safe='')}"
    return {"authorization": f"Basic {base64.b64encode(shown.encode()).decode()}"}


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        data = response.json()
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
