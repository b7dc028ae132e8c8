"""The token of a sign-in, renewed before it ends: once at a time for each provider, of all processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.conf import settings

from agents.llm.accounts.flows.base import Flow, Refused, SignInFailed, milliseconds
from agents.llm.accounts.methods import FLOWS
from agents.llm.auth import Entry, known_entries, read_entries, swap
from agents.llm.types import AuthFailed, ModelError, ModelRequest
from sessions.core.files import locked

logger = logging.getLogger(__name__)

SOON = 120_000
"""Milliseconds before its end that a token is renewed."""

_threads = ThreadPoolExecutor(8, "accounts")
"""Apart from the loops' own: a provider that hangs must not hold up disk work."""

ended: dict[str, str] = {}
"""Why a sign-in ended that was not signed out of, by provider: for the page, until the next sign-in."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """An `agents.llm.types.Account`. It holds no token: each request has the one that is kept."""

    provider_id: str

    async def authorized(self, request: ModelRequest, refused: str = "") -> ModelRequest:
        loop = asyncio.get_running_loop()
        entry = await loop.run_in_executor(_threads, _fresh, self.provider_id, refused)
        return FLOWS[self.provider_id].prepare(request, entry)


def accounts_of(entries: Mapping[str, Entry]) -> dict[str, SignedIn]:
    """The sign-ins among entries of `auth.json`, of providers we know to sign in at."""
    return {name: SignedIn(name) for name in FLOWS if entries.get(name, {}).get("type") == "oauth"}


def _fresh(provider_id: str, refused: str) -> Entry:
    """The entry with a token that can be used; whoever comes while it is renewed gets the new one."""
    entry = _kept(provider_id)
    if not _is_due(entry, refused):
        return entry
    # Only one thread of all processes is in here at a time for a provider.
    with locked(settings.AUTH_FILES[0].parent / f".auth-{provider_id}.lock"):
        entry = _kept(provider_id)
        return _renewed(provider_id, entry, refused) if _is_due(entry, refused) else entry


def _renewed(provider_id: str, entry: Entry, refused: str) -> Entry:
    flow, path = FLOWS[provider_id], settings.AUTH_FILES[0]
    own = read_entries([path]).get(provider_id)
    usable = entry["access"] != refused and entry["expires"] > milliseconds()
    if own is None and flow.rotates:
        if usable:
            return entry
        raise AuthFailed(
            f"The sign-in with {flow.name} in OpenCode's own file has ended, and only OpenCode may renew it."
            " Use OpenCode once, or sign in here under Accounts."
        )
    try:
        renewed = asyncio.run(flow.renew(entry))
    except Refused as error:
        raise _signed_out(provider_id, flow, own, error) from error
    except SignInFailed as error:
        if usable:
            return entry
        text = f"The sign-in with {flow.name} could not be renewed: {error}"
        raise ModelError(text, retryable=True) from error
    swap(path, provider_id, own, renewed)
    return renewed


def _signed_out(provider_id: str, flow: Flow, own: Entry | None, error: Refused) -> AuthFailed:
    """What is refused once is refused for ever: it is forgotten, unless it is OpenCode's."""
    if own is not None:
        swap(settings.AUTH_FILES[0], provider_id, own, None)
    text = f"You are signed out of {flow.name}, which did not renew the sign-in ({error})."
    ended[provider_id] = text
    logger.warning("%s", text)
    return AuthFailed(f"{text} Sign in again under Accounts.")


def _kept(provider_id: str) -> Entry:
    """Raises AuthFailed where there is no sign-in."""
    entry = known_entries(settings.AUTH_FILES).get(provider_id)
    if entry is None or entry["type"] != "oauth":
        name = FLOWS[provider_id].name
        raise AuthFailed(f"You are signed out of {name}. Sign in again under Accounts.")
    return entry


def _is_due(entry: Entry, refused: str) -> bool:
    """An end of 0 is none."""
    access, expires = str(entry["access"]), float(entry["expires"])
    return access == refused or 0 < expires < milliseconds() + SOON
