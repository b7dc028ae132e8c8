"""A session's shared page: the secret in its address, made and revoked."""

from __future__ import annotations

import hmac
import secrets

from sessions.core.models import Session

from . import sessions as session_store

TOKEN_BYTES = 32
"""256 random bits, 43 characters of URL-safe text."""


def share(session_id: str, base: str) -> Session | None:
    """Give a session its address below `base` (`http://host:port`); one that has one keeps it. None: gone."""
    row = session_store.get(session_id)
    if row is None or row.share_token:
        return row
    token = secrets.token_urlsafe(TOKEN_BYTES)
    return session_store.update(session_id, share_token=token, share_base=base)


def unshare(session_id: str) -> Session | None:
    """The address is nobody's from now on. None when the session is gone."""
    row = session_store.get(session_id)
    if row is None or not row.share_token:
        return row
    return session_store.update(session_id, share_token="", share_base="")


def shared(token: str) -> Session | None:
    """The session that a token opens, unless it is deleted or archived.

    Every token is compared, each in constant time: an index would tell by its time how much of one is right.
    """
    rows = Session.objects.exclude(share_token="").filter(time_deleted=None, time_archived=None)
    given, found = token.encode("utf-8", "replace"), ""
    for session_id, known in rows.values_list("id", "share_token"):
        if hmac.compare_digest(known.encode(), given):
            found = session_id
    return session_store.get(found) if found else None
