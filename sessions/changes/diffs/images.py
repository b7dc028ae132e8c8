"""What kind of image a content is, and how large: read from its first bytes, never by decoding it.

Sources: PNG (ISO/IEC 15948) 11.2.2, GIF89a 18, WebP (RFC 9649) 2.5 to 2.7, JPEG (ITU-T T.81) B.2.2.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_JPEG_ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length
_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_SVG_LOOK = 4096


@dataclass(frozen=True, slots=True)
class Image:
    """`kind` is a media type; pixels are 0 where the file does not say them."""

    kind: str
    width: int = 0
    height: int = 0


def image(content: bytes, path: str = "") -> Image | None:
    """What `content` is as an image a browser shows, None for anything else. An SVG is known by the name of
    its `path` too, because it is text."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return Image("image/png", *struct.unpack_from(">II", content, 16))
        if content[:6] in (b"GIF87a", b"GIF89a"):
            return Image("image/gif", *struct.unpack_from("<HH", content, 6))
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return Image("image/webp", *_webp(content))
        if content.startswith(b"\xff\xd8\xff"):
            return Image("image/jpeg", *_jpeg(content))
    except (struct.error, IndexError):
        return None
    if path.lower().endswith(".svg") and b"<svg" in content[:_SVG_LOOK]:
        return Image("image/svg+xml")
    return None


def _webp(content: bytes) -> tuple[int, int]:
    chunk = content[12:16]
    if chunk == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    if chunk == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", content, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(content: bytes) -> tuple[int, int]:
    """From the first frame header; (0, 0) if there is none."""
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        else:
            at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return 0, 0
