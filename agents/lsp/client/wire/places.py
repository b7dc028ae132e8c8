"""Files as URIs (RFC 8089), as language servers name them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


def uri_of(path: Path) -> str:
    """Of an absolute path."""
    return path.as_uri()


def path_of(uri: Any) -> Path | None:
    """Without `..`, so that it shows where it lies; None for what is no file of this machine. Servers escape
    in different ways, so paths are compared, never URIs."""
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path:
        return None
    return Path(os.path.normpath(path)) if path.startswith("/") else None
