from __future__ import annotations

import struct

import pytest

from sessions.changes.diffs.images import Image, image

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 32, 16) + bytes(5)
GIF = b"GIF89a" + struct.pack("<HH", 5, 7) + bytes(3)
WEBP = b"RIFF\0\0\0\0WEBP"
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08" + struct.pack(">HH", 16, 32) + bytes(9)


@pytest.mark.parametrize(
    ("content", "kind", "size"),
    [
        (PNG, "png", (32, 16)),
        (GIF, "gif", (5, 7)),
        (WEBP + b"VP8X" + bytes(8) + b"\x1f\0\0\x0f\0\0", "webp", (32, 16)),
        (WEBP + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 31 | 15 << 14), "webp", (32, 16)),
        (WEBP + b"VP8 " + bytes(10) + struct.pack("<HH", 32, 16 | 1 << 14), "webp", (32, 16)),
        (JPEG, "jpeg", (32, 16)),
        (b"\xff\xd8\xff\xd9", "jpeg", (0, 0)),
    ],
)
def test_kind_and_pixels(content: bytes, kind: str, size: tuple[int, int]) -> None:
    assert image(content) == Image(f"image/{kind}", *size)


def test_an_svg_is_one_by_name_and_content() -> None:
    svg = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>'
    assert image(svg, "a/Logo.SVG") == Image("image/svg+xml")
    assert image(svg, "page.html") is None
    assert image(b"<html>", "logo.svg") is None


@pytest.mark.parametrize(
    "content", [b"", b"text", PNG[:18], GIF[:7], WEBP, WEBP + b"VP8L", b"RIFF\0\0\0\0WAVE"]
)
def test_what_is_cut_short_or_something_else_is_no_image(content: bytes) -> None:
    assert image(content, "x.png") is None


def test_a_jpeg_that_leads_in_circles_ends() -> None:
    assert image(b"\xff\xd8\xff\xe0\0\0" + b"\xff\xe0\0\0" * 50) == Image("image/jpeg")
