"""Text of a file without losing a byte: byte order mark, encoding and line endings.

A `Codec` decodes any bytes and encodes them back unchanged, so an edit leaves the rest of a file alone.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

SAMPLE = 64 * 1024
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
CONTROL = bytes(set(range(32)) - set(b"\b\t\n\f\r\x1b"))

Span = tuple[int, int]


class Unencodable(ValueError):
    """A text has characters that the encoding of its file has not; says which."""


@dataclass(frozen=True, slots=True)
class Codec:
    """How a file's bytes are text. Decoding and encoding again gives the same bytes."""

    name: str = "utf-8"
    bom: bytes = b""
    errors: str = "surrogateescape"

    def decode(self, data: bytes) -> str:
        return data.removeprefix(self.bom).decode(self.name, self.errors)

    def encode(self, text: str) -> bytes:
        """Raises Unencodable."""
        try:
            return self.bom + text.encode(self.name, self.errors)
        except UnicodeEncodeError as error:
            raise Unencodable(
                gettext("The file is not UTF-8 but %(name)s, which cannot hold %(text)s.")
                % {"name": self.name, "text": repr(text[error.start])}
            ) from error


def detect(data: bytes) -> Codec:
    """The codec of a file from its first bytes: UTF-8, UTF-16 with its mark, else Latin-1."""
    for bom, name in UTF16.items():
        if data.startswith(bom) and len(data) % 2 == 0:
            return Codec(name, bom, "surrogatepass")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    # A full sample may end within a character.
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(data, len(data) != SAMPLE)
    broken = sum(map(text.count, set(re.findall("[\udc80-\udcff]", text))))
    if broken and broken >= len(re.findall("[^\x00-\x7f]", text)) - broken:
        return Codec("latin-1", errors="strict")
    return Codec(bom=bom)


def is_binary(data: bytes) -> bool:
    """Whether the first bytes of a file are no text: a NUL outside of UTF-16, or many control characters."""
    if not data or (data[:2] in UTF16 and len(data) % 2 == 0):
        return False
    return b"\0" in data or (len(data) - len(data.translate(None, CONTROL))) * 10 > len(data)


def newline(text: str) -> str:
    """The line ending that most lines of `text` have; LF where there is none."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"


def with_newline(text: str, ending: str) -> str:
    """`text` (LF) with the given line ending."""
    return text.replace("\n", ending)


def raw_spans(raw: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of `raw` with CRLF made LF, as spans of `raw` itself."""
    breaks = [found.start() - number for number, found in enumerate(re.finditer("\r\n", raw))]
    return [(start + bisect_left(breaks, start), stop + bisect_left(breaks, stop)) for start, stop in spans]
