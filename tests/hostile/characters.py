"""Characters that act or show nothing, and what is spelled with such characters rightly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from unicodedata import category

HIDING = {
    "soft hyphen": "\u00ad",
    "combining grapheme joiner": "\u034f",
    "arabic letter mark": "\u061c",
    "hangul choseong filler": "\u115f",
    "hangul jungseong filler": "\u1160",
    "khmer inherent vowel": "\u17b4",
    "mongolian variation selector": "\u180b",
    "mongolian vowel separator": "\u180e",
    "zero width space": "\u200b",
    "zero width non-joiner": "\u200c",
    "zero width joiner": "\u200d",
    "left-to-right mark": "\u200e",
    "right-to-left mark": "\u200f",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "right-to-left override": "\u202e",
    "word joiner": "\u2060",
    "invisible times": "\u2062",
    "invisible plus": "\u2064",
    "right-to-left isolate": "\u2067",
    "nominal digit shapes": "\u206f",
    "braille blank": "\u2800",
    "hangul filler": "\u3164",
    "variation selector": "\ufe00",
    "emoji selector after a letter": "\ufe0f",
    "byte order mark": "\ufeff",
    "halfwidth hangul filler": "\uffa0",
    "interlinear annotation": "\ufff9",
    "musical begin beam": "\U0001d173",
    "language tag": "\U000e0001",
    "tag letter": "\U000e0061",
    "unassigned tag": "\U000e0fff",
    "variation selector supplement": "\U000e0100",
    "escape": "\x1b",
    "carriage return": "\r",
    "next line": "\x85",
    "delete": "\x7f",
}
FLOOD = "e" + "\u0301" * 40

RIGHT = (
    "⚠️ ✔️ ❤️ ☎️ ↔️ \u2139️ ‼️",  # the selector within an emoji
    "👨‍👩‍👧 🏳️‍🌈 👩🏽‍💻 1️⃣ #️⃣",
    "naïve çédille ñ ằ Việt phở",
    "שָׁלוֹם עֲלֵיכֶם",
    "नमस्ते ก็ปิ้ง 日本語 한국어",
    "a\tb\nc",
)


def hidden() -> Iterator[str]:
    """All that Unicode calls a format character or a separator of lines, by Python's own table."""
    return (chr(code) for code in range(sys.maxunicode + 1) if category(chr(code)) in ("Cf", "Zl", "Zp"))
