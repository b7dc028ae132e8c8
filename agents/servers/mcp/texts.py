"""Texts and files of servers, fit to be kept and sent on: they are hostile. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from agents.toolkit.shared.filekind import ATTACHED, attachable

MAX_FILE_BYTES = 10 * 1024 * 1024
"""Of one file; what is larger is said and left out."""
UNKNOWN = "application/octet-stream"

_FOR_MODELS = frozenset({*ATTACHED.values(), "image/webp"})
_HEAD = 16
_MIME = re.compile(r"[\w.+-]{1,64}/[\w.+-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes of a server as a `data:` URL."""

    mime: str
    url: str
    size: int


def clean(text: str, limit: int = 0) -> str:
    """As any database and any provider takes it, in at most `limit` characters (0: as long as it is)."""
    if limit and len(text) > limit:
        text = f"{text[:limit]}…"
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


def mime_of(given: str | None, otherwise: str = UNKNOWN) -> str:
    """A type that a server names, if it is one."""
    mime = (given or "").partition(";")[0].strip().lower()
    return mime if _MIME.fullmatch(mime) else otherwise


def content_of(data: str, mime: str | None) -> Content:
    """Of base64. What it is by its content counts where models can look at it.

    Raises ValueError, for people, for what is none, too large, or no picture though it says so: a provider
    would refuse the request for it, and every one that follows.
    """
    size = len(data) * 3 // 4
    if size > MAX_FILE_BYTES:
        raise ValueError(f"it has {size:,} bytes, and at most {MAX_FILE_BYTES:,} are taken")
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("it is not valid base64") from error
    said, seen = mime_of(mime), attachable(content[:_HEAD])
    if seen is None and said in _FOR_MODELS:
        raise ValueError("it is not what it says to be")
    kind = seen or said
    url = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    return Content(kind, url, len(content))


def is_for_models(mime: str) -> bool:
    """Whether providers have a place for such a file."""
    return mime in _FOR_MODELS


def filename_of(uri: str) -> str:
    """The last step of an address."""
    return clean(uri.rstrip("/").rpartition("/")[2] or uri, 120)


def text_of(contents: Any) -> str | None:
    """The text of a resource's contents, also where it was sent as bytes; None for other bytes."""
    text = getattr(contents, "text", None)
    if isinstance(text, str):
        return text
    if not mime_of(contents.mime_type).startswith("text/"):
        return None
    try:
        return base64.b64decode(contents.blob, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
