"""Files beside a part of the conversation: pictures are shown, sound is played, all can be downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from mimetypes import guess_extension
from typing import Any

from sessions.core.data_url import content_of
from sessions.core.text import visible

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
AUDIO = frozenset(
    {f"audio/{kind}" for kind in "aac flac mp3 mp4 mpeg ogg opus wav wave webm x-flac x-m4a x-wav".split()}
)
UNKNOWN = "application/octet-stream"
_LONGEST_NAME = 120
_BASE64 = ";base64"


@dataclass(frozen=True, slots=True)
class Attached:
    """`number` is its place among the files of the part; `here`: its content is kept, so it can be had."""

    number: int
    name: str
    mime: str
    here: bool

    @property
    def audio(self) -> bool:
        return self.here and self.mime in AUDIO


@dataclass(frozen=True, slots=True)
class Download:
    """`mime` is one that a browser may be told."""

    content: bytes
    name: str
    mime: str


def is_image(part: Mapping[str, Any]) -> bool:
    """Only pixels inside of the page are shown: nothing from elsewhere, and no SVG, which is a document."""
    mime = part.get("mime", "")
    return mime in IMAGES and part.get("url", "").startswith(f"data:{mime};base64,")


def files_of(part: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Of a file part itself, else what the call gave."""
    if part["type"] == "file":
        return [part]
    return (part.get("state") or {}).get("attachments") or ()


def attached(part: Mapping[str, Any]) -> tuple[Attached, ...]:
    """All but the pictures."""
    return tuple(
        Attached(number, visible(file.get("filename") or file["mime"]), file["mime"], _is_here(file))
        for number, file in enumerate(files_of(part))
        if not is_image(file)
    )


def download(part: Mapping[str, Any], number: int) -> Download | None:
    """None where there is no such file, or its content is elsewhere."""
    files = files_of(part)
    if number >= len(files) or not _is_here(files[number]):
        return None
    file = files[number]
    content = content_of(file["url"])
    if content is None:
        return None
    mime = file["mime"]
    return Download(content, _filename(file), mime if mime in AUDIO | IMAGES else UNKNOWN)


def _is_here(file: Mapping[str, Any]) -> bool:
    head = str(file.get("url", ""))[:200].partition(",")[0]
    return head.startswith("data:") and head.endswith(_BASE64)


def _filename(file: Mapping[str, Any]) -> str:
    """Such as `tune.wav`, of characters that are printed, without folders."""
    given = str(file.get("filename") or "").replace("\\", "/").rpartition("/")[2]
    name = "".join(letter for letter in given if letter.isprintable())[-_LONGEST_NAME:].strip(". ")
    return name if name and name != file["mime"] else f"attached{guess_extension(file['mime']) or '.bin'}"
