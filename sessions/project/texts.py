"""A file's text as a person edits it, and as the file writes it: encoding, line ends, and bytes that are no
text stay where nothing was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext

from sessions.changes.diffs.endings import as_in_file, editable
from sessions.core.filetext import SAMPLE, UTF16, Codec, detect, is_binary, newline, with_newline

Ending = Literal["lf", "crlf"]
ENDINGS: dict[str, str] = {"lf": "\n", "crlf": "\r\n"}
_MARK = "UTF-8 with a mark"
_NAMES = {"utf-8": "UTF-8", "latin-1": "Latin-1", "utf-16-le": "UTF-16 LE", "utf-16-be": "UTF-16 BE"}


@dataclass(frozen=True, slots=True)
class Text:
    """`text` has LF; `ending` is what most lines have, and `mixed` that not all do. `broken` are bytes that
    are no text in its encoding; `locked` says why it cannot be edited, empty where it can."""

    text: str
    codec: Codec
    raw: str
    ending: Ending
    mixed: bool
    broken: int

    @property
    def encoding(self) -> str:
        return _MARK if self.codec.name == "utf-8" and self.codec.bom else _NAMES[self.codec.name]

    @property
    def locked(self) -> str:
        alone = self.raw.replace("\r\n", "").count("\r")
        return gettext("Some of its lines end with a carriage return alone.") if alone else ""

    def encoded(self, text: str, ending: str = "") -> bytes:
        """`text` (LF) as this file writes it; an `ending` (`lf`, `crlf`) is given to all lines. Raises
        Unencodable."""
        if ending:
            return self.codec.encode(with_newline(text, ENDINGS[ending]))
        return self.codec.encode(as_in_file(text, (self.raw,), ENDINGS[self.ending]))


def read(data: bytes) -> Text | None:
    """None where it is no text."""
    if is_binary(data[:SAMPLE]) or (b"\0" in data and data[:2] not in UTF16):
        return None
    codec = detect(data)
    raw = codec.decode(data)
    windows = raw.count("\r\n")
    shown = editable(raw).replace("\r\n", "\n")
    return Text(
        text=shown,
        codec=codec,
        raw=raw,
        ending="crlf" if newline(raw) == "\r\n" else "lf",
        mixed=0 < windows < raw.count("\n"),
        broken=sum("\udc80" <= letter <= "\udcff" for letter in raw) if not raw.isascii() else 0,
    )
