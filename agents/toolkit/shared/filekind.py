"""What kind of file some first bytes begin: one that a model can look at, or what to call it."""

from __future__ import annotations

import mimetypes

ATTACHED = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}
BINARY = {
    b"\x7fELF": "ELF program or library",
    b"PK\x03\x04": "zip archive",
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"SQLite format 3\x00": "SQLite database",
    b"\x00asm": "WebAssembly module",
    b"\xca\xfe\xba\xbe": "Java class or Mach-O program",
}


def attachable(head: bytes) -> str | None:
    """The MIME type of a picture (PNG, JPEG, GIF, WebP) or PDF, by its content, never by its name."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in ATTACHED.items() if head.startswith(magic)), None)


def called(head: bytes, name: str) -> str:
    """Words for a binary file, from its content or else its name."""
    known = next((kind for magic, kind in BINARY.items() if head.startswith(magic)), None)
    return known or mimetypes.guess_type(name)[0] or "unknown kind"
