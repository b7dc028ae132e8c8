"""daphne, imported without TLS and HTTP/2, which a proxy speaks, and without WebSockets, which come with the
first one (sockets.py): a start, and until then its memory, are smaller by a sixth. Twisted and autobahn do
without what is missing, and others find it afterwards.
"""

from __future__ import annotations

from types import ModuleType

from opencode_web.site.without import without

_sockets = ModuleType("daphne.ws_protocol")
_sockets.WebSocketFactory = None  # type: ignore[attr-defined]  # which the server imports
with without("OpenSSL", "h2", hollow=_sockets):
    import daphne.server  # type: ignore[import-untyped]  # noqa: F401  # installs the reactor
