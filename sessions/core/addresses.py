"""Which addresses may be fetched from."""

from __future__ import annotations

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def is_safe(scheme: str, host: str | None) -> bool:
    """Whether what comes from there is what was sent: over https, or from this machine."""
    return scheme == "https" or (scheme == "http" and host in _LOOPBACK)
