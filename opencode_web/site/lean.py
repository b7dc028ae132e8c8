"""daphne, imported without TLS and HTTP/2, which a proxy speaks: a start, and its memory, are smaller by a
tenth. Twisted does without where they are missing, and others find them afterwards.
"""

from __future__ import annotations

import sys

_unused = [name for name in ("OpenSSL", "h2") if name not in sys.modules]
sys.modules.update(dict.fromkeys(_unused))  # type: ignore[arg-type]  # None: not to be had

import daphne.server  # type: ignore[import-untyped]  # noqa: E402, F401  # installs the reactor

for _name in _unused:
    del sys.modules[_name]
