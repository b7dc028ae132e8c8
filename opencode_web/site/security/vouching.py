"""What a front says of a request that it passes on: who makes it, from where. A node takes its word, for both
have the secret of their team."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

HEADER = b"x-opencode-front"
SECONDS = 300
"""How far the clocks of two machines may be apart."""


def vouch(key: str, method: str, path: str, said: Mapping[str, Any]) -> bytes:
    """The header's value for one request; `said` is `principal`, `client` and `scheme` of its scope."""
    text = json.dumps({**said, "at": int(time.time())}).encode()
    return urlsafe_b64encode(text) + b"." + _signature(key, method, path, text)


def vouched(key: str, method: str, path: str, value: bytes) -> dict[str, Any] | None:
    """What was said; None where nobody with the key said it of this request, or long ago."""
    encoded, _, signature = value.partition(b".")
    try:
        text = urlsafe_b64decode(encoded)
    except ValueError:
        return None
    if not key or not hmac.compare_digest(signature, _signature(key, method, path, text)):
        return None
    said: dict[str, Any] = json.loads(text)
    return said if abs(time.time() - said["at"]) <= SECONDS else None


def _signature(key: str, method: str, path: str, text: bytes) -> bytes:
    message = b"\0".join((method.encode(), path.encode(), text))
    return hmac.digest(key.encode(), message, "sha256").hex().encode()
