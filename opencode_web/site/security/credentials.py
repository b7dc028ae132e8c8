"""Rule 1: Basic (RFC 7617) and Bearer (RFC 6750) credentials, compared in constant time."""

from __future__ import annotations

import base64
import hmac
from typing import Literal


class Credentials:
    """The one user and password of this server, kept in the form they arrive in."""

    def __init__(self, username: str, password: str) -> None:
        self._password = password.encode()
        self._basic = base64.b64encode(f"{username}:{password}".encode())

    def verify(self, authorization: bytes) -> Literal["basic", "bearer"] | None:
        """The scheme of an Authorization header that is right."""
        scheme, _, value = authorization.partition(b" ")
        scheme = scheme.lower()
        if scheme == b"basic" and hmac.compare_digest(value.strip(), self._basic):
            return "basic"
        if scheme == b"bearer" and hmac.compare_digest(value.strip(), self._password):
            return "bearer"
        return None

    def verify_password(self, password: str) -> bool:
        return hmac.compare_digest(password.encode(errors="replace"), self._password)
