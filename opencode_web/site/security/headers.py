"""Rule 7: the headers of every response."""

from __future__ import annotations

from opencode_web.site.security.asgi import Headers, Message, Send

CONTENT_SECURITY_POLICY = (
    b"default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    b"connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ALWAYS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_FORCED = frozenset(name for name, _ in ALWAYS)
_DEFAULTS: Headers = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY),
    (b"referrer-policy", b"no-referrer"),
]
_NO_STORE = (b"cache-control", b"no-store")


def harden(send: Send, extra: Headers, *, may_store: bool) -> Send:
    """A `send` that completes the headers of the response.

    A response may bring its own Content-Security-Policy (a sandboxed preview), Referrer-Policy and
    Cache-Control; the rest is the same for all. CORS headers of an inner application do not pass.
    """

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _complete(message.get("headers", ()), extra, may_store)}
        await send(message)

    return complete


def _complete(given: Headers, extra: Headers, may_store: bool) -> Headers:
    names = set()
    kept: Headers = []
    for name, value in given:
        name = name.lower()
        if name in _FORCED or name.startswith(b"access-control-"):
            continue
        names.add(name)
        kept.append((name, value))
    kept += ALWAYS
    kept += extra
    defaults = _DEFAULTS if may_store else [*_DEFAULTS, _NO_STORE]
    kept += [header for header in defaults if header[0] not in names]
    return kept
