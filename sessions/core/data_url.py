"""What a `data:` URL holds (RFC 2397), and which attachments have one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes


def content_of(url: str) -> bytes | None:
    """Its bytes; None where it is no such URL or cannot be read. Base64 may be escaped, broken into lines, of
    either alphabet and without its padding, as writers of such URLs leave it."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma:
        return None
    raw = unquote_to_bytes(data)
    if not head.endswith(";base64"):
        return raw
    packed = b"".join(raw.split()).rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except binascii.Error:
        return None


def by_address(part: Mapping[str, Any]) -> bool:
    """Whether a file part names what it is about by an address, and does not hold it. The address of a
    resource of an MCP server may look as if it did (`data://config`)."""
    url, source = str(part.get("url", "")), part.get("source")
    names = isinstance(source, Mapping) and source.get("type") == "resource" and source.get("uri") == url
    return names or not url.startswith("data:")
