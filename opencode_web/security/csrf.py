"""Rule 6: a request that changes something and is let in by the cookie also shows the session's token."""

from __future__ import annotations

import hmac

HEADER = "X-CSRF-Token"


def token_for(session_id: str, key: str) -> str:
    """The token of one browser session, for the page that sends it back in `X-CSRF-Token`."""
    return hmac.digest(key.encode(), b"csrf:" + session_id.encode(), "sha256").hex()


def matches(sent: bytes, token: str) -> bool:
    return hmac.compare_digest(sent, token.encode())
