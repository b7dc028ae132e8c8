"""Take secrets out of a conversation, and shorten the paths that name a person's home."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from .document import Document
from .secrets import (
    ASSIGNED,
    HEADER,
    IN_URL,
    PRIVATE_KEY,
    SECRET_NAME,
    SHAPED,
    SHORTEST,
    known_values,
)

BLACK = "[redacted]"
PIECE = 32 * 1024
"""Characters that are searched at once."""

_HOMES = re.compile(r"(?<![\w.-])(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})[^\s/\\\"'<>|:*?]{1,64}")
_DATA = re.compile(
    r"data:(text/[\w.+-]{1,60}|application/(?:json|xml|yaml))((?:;[\w=.-]{1,60}){0,4}),(.*)", re.DOTALL
)
_WORDS = re.compile(
    r"(?:true|false|null|none|undefined|string|str|process|os|env|self|this|config)\b", re.IGNORECASE
)


class Redactor:
    """`secrets` are values to be blacked out wherever they stand; `home` becomes `~`."""

    def __init__(self, secrets: Iterable[str], home: str = "") -> None:
        every = [form for secret in secrets for form in dict.fromkeys((secret, quote(secret, safe="")))]
        self._values = re.compile("|".join(map(re.escape, every))) if every else None
        bounded = rf"(?<![\w.-]){re.escape(home)}(?![\w.-])"
        self._home = re.compile(bounded) if len(home) > 1 else None

    def text(self, text: str) -> str:
        if self._values is not None:
            text = self._values.sub(BLACK, text)
        text = PRIVATE_KEY.sub(BLACK, text)
        return "".join(map(self._piece, _pieces(text)))

    def _piece(self, text: str) -> str:
        text = SHAPED.sub(BLACK, text)
        text = HEADER.sub(_keep_name, text)
        text = ASSIGNED.sub(_keep_name, text)
        text = IN_URL.sub(BLACK, text)
        if self._home is not None:
            text = self._home.sub("~", text)
        return _HOMES.sub("~", text)

    def value(self, value: Any) -> Any:
        """The same value with every text in it gone through, names of keys too."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._under(key, item) for key, item in value.items()}
        return value

    def document(self, document: Document) -> Document:
        return Document(
            info=self.value(document.info),
            messages=self.value(document.messages),
            runs=document.runs,
            children=[self.document(child) for child in document.children],
        )

    def _under(self, key: str, value: Any) -> Any:
        """`{"apiKey": "…"}` is an assignment too."""
        if isinstance(value, str) and len(value) >= SHORTEST and SECRET_NAME.fullmatch(key):
            return value if _WORDS.match(value) else BLACK
        return self.value(value)

    def _string(self, text: str) -> str:
        return _inside_data_url(text, self.text) if text.startswith("data:") else self.text(text)


def _pieces(text: str) -> Iterator[str]:
    """Cut at the ends of lines where it is long: a search in one text lets no other thread run meanwhile."""
    start = 0
    while len(text) - start > PIECE:
        end = text.rfind("\n", start, start + PIECE) + 1 or start + PIECE
        yield text[start:end]
        start = end
    yield text[start:]


def _keep_name(match: re.Match[str]) -> str:
    """`API_KEY=[redacted]`; where a call or a plain word follows the name, code only speaks of one."""
    speaks = _WORDS.match(match[2]) or match.string[match.end() : match.end() + 1] == "("
    return match[0] if speaks else f"{match[1]}{BLACK}"


def _inside_data_url(url: str, change: Callable[[str], str]) -> str:
    """An attached text is gone through as well; pictures are left alone (RFC 2397)."""
    found = _DATA.fullmatch(url)
    if found is None:
        return url
    kind, parameters, body = found.groups()
    try:
        encoded = parameters.endswith(";base64")
        before = (base64.b64decode(body) if encoded else unquote_to_bytes(body)).decode()
    except (binascii.Error, ValueError):
        return url
    after = change(before)
    if after == before:
        return url
    inside = base64.b64encode(after.encode()).decode()
    return f"data:{kind}{parameters.removesuffix(';base64')};base64,{inside}"


def redacted(document: Document) -> Document:
    """A copy without the secrets of this machine, and without what has the look of one."""
    folders = {str(one.info["directory"]) for one in document.every() if one.info.get("directory")}
    return Redactor(known_values(folders), str(Path.home())).document(document)
