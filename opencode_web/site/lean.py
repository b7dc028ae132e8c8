"""daphne, imported without TLS and HTTP/2, which a proxy speaks, and without WebSockets, which come with the
first one (sockets.py): a start, and until then its memory, are smaller by a sixth. Twisted and autobahn do
without what is missing, and others find it afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def without(*names: str, hollow: ModuleType | None = None) -> Iterator[None]:
    """Modules of these names are not to be had meanwhile, unless they are there, and `hollow` is in the place
    of the one of its name."""
    modules: dict[str, ModuleType | None] = dict.fromkeys(names)
    if hollow:
        modules[hollow.__name__] = hollow
    for name in sys.modules.keys() & modules:
        del modules[name]
    sys.modules.update(modules)  # type: ignore[arg-type]  # None: not to be had
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]


_sockets = ModuleType("daphne.ws_protocol")
_sockets.WebSocketFactory = None  # type: ignore[attr-defined]  # which the server imports
with without("OpenSSL", "h2", hollow=_sockets):
    import daphne.server  # type: ignore[import-untyped]  # noqa: F401  # installs the reactor
