"""Strategies that look for a piece of text, wherever in a line it begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": "\n"}
ESCAPED = re.compile(r"\\(n|t|r|'|\"|`|\\|\n|\$)")


def simple(text: str, old: str) -> Iterator[str]:
    """The text as it was given."""
    if old in text:
        yield old


def whitespace_normalized(text: str, old: str) -> Iterator[str]:
    """The same words with other white space between them."""
    words = old.split()
    if not words:
        return
    pattern = r"\s+".join(map(re.escape, words))
    start = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    stop = r"(?!\w)" if re.search(r"\w$", words[-1]) else ""
    lead, trail = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    before = (r"\n[ \t]*" if "\n" in lead else r"(?<![ \t])[ \t]*") if lead else ""
    after = (r"[ \t]*\n" if "\n" in trail else r"[ \t]*") if trail else ""
    for found in re.finditer(f"{before}{start}{pattern}{stop}{after}", text):
        yield found[0]


def escape_normalized(text: str, old: str) -> Iterator[str]:
    """The text with one level of escapes too many."""
    plain = unescape(old)
    if plain != old and plain in text:
        yield plain


def trimmed_boundary(text: str, old: str) -> Iterator[str]:
    """The text without the white space around it."""
    trimmed = old.strip()
    if trimmed and trimmed != old and trimmed in text:
        yield trimmed


def multi_occurrence(text: str, old: str) -> Iterator[str]:
    """Every exact occurrence, for replacing all."""
    for found in re.finditer(re.escape(old), text):
        yield found[0]


def unescape(text: str) -> str:
    """Take one level of backslash escapes away."""
    return ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), text)
