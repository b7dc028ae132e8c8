"""The conversation as one HTML file to read: no script, nothing fetched, everything hostile escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from sessions.core.text import bounded, prose, shown_output, visible
from sessions.rendering.attached import is_image
from sessions.rendering.blocks import render_whole
from sessions.rendering.html import html
from sessions.rendering.parts import shown
from sessions.rendering.tools import card
from sessions.transfer.writing.document import Document, Wire

LONGEST = 256 * 1024
"""Characters of one text or output; of what is longer the middle is left out, and it says so."""


@dataclass(frozen=True, slots=True)
class Section:
    """A session of the transcript: the one asked for, then its subagents'."""

    id: str
    title: str
    about: str
    runs: bool
    child: bool
    body: SafeString


def as_html(document: Document, *, redacted: bool = False, shared: bool = False) -> str:
    """The whole page. `redacted` and `shared` are said in its head."""
    return html(
        "transfer/transcript.html",
        title=visible(document.info["title"]),
        sections=[_section(one) for one in document.every()],
        style=mark_safe(style()),  # noqa: S308 (our own style sheets)
        policy=policy(),
        redacted=redacted,
        shared=shared,
    )


def gone() -> str:
    """What stands in the place of a transcript that is not shared, in the same style."""
    return html("sharing/gone.html", style=mark_safe(style()))  # noqa: S308 (our own style sheets)


def _section(document: Document) -> Section:
    info = document.info
    root = str(info.get("directory", ""))
    return Section(
        id=info["id"],
        title=visible(info["title"]),
        about=", ".join(_about(document)),
        runs=document.runs,
        child=bool(info.get("parentID")),
        body=mark_safe("".join(_messages(document.shown(), root))),  # noqa: S308 (rendered templates)
    )


def _about(document: Document) -> Iterator[str]:
    info = document.info
    yield datetime.fromtimestamp(info["time"]["created"] / 1000, UTC).strftime("%-d %B %Y")
    if model := (info.get("model") or {}).get("id"):
        yield visible(str(model))
    yield f"in {visible(str(info.get('directory', '')))}"


def _messages(entries: list[Wire], root: str) -> Iterator[str]:
    """The steps of one answer stand under one heading."""
    before = ""
    for entry in entries:
        info = entry["info"]
        parts = [_part(part, info["role"], root) for part in entry["parts"] if shown(part)]
        error = _error(info.get("error") or {})
        if not parts and not error:
            continue
        yield html(
            "transfer/message.html",
            user=info["role"] == "user",
            headed=info["role"] != before or info["role"] == "user",
            agent=info.get("agent", ""),
            model=info.get("modelID", ""),
            parts=mark_safe("".join(parts)),  # noqa: S308 (rendered templates)
            error=error,
        )
        before = info["role"]


def _error(error: Wire) -> str:
    return visible(str((error.get("data") or {}).get("message") or error.get("name") or "")[:4000])


def _part(part: Wire, role: str, root: str) -> str:
    match part["type"]:
        case "text" if role == "user":
            return html("transfer/prompt.html", text=prose(_short(part.get("text", ""))))
        case "text" | "reasoning":
            text = mark_safe(render_whole(_short(part.get("text", ""))))  # noqa: S308 (sanitised)
            return html("transfer/text.html", text=text, thinking=part["type"] == "reasoning")
        case "tool":
            return _call(part, root)
        case "file":
            return html("transfer/file.html", part=part, image=is_image(part))
        case kind:
            return html("transfer/other.html", kind=kind, part=part)


def _call(part: Wire, root: str) -> str:
    state, metadata = part["state"], part["state"].get("metadata") or {}
    output = state.get("output") or metadata.get("output") or ""
    child = metadata.get("sessionId")
    return html(
        "transfer/call.html",
        card=card(part, root),
        input=visible(_short(json.dumps(state.get("input") or {}, ensure_ascii=False, indent=2))),
        diff=list(_diff(metadata.get("diff"))),
        output=shown_output(str(output), limit=LONGEST),
        error=shown_output(str(state.get("error") or ""), limit=LONGEST),
        child=child if isinstance(child, str) else "",
    )


def _diff(text: Any) -> Iterator[tuple[str, str]]:
    """Each line of a unified diff with what it is: added, removed, where, or as before."""
    if not isinstance(text, str):
        return
    for line in visible(_short(text)).splitlines():
        head = line.startswith(("+++", "---", "Index:", "====="))
        kind = "" if head else {"+": "add", "-": "del", "@": "at"}.get(line[:1], "")
        yield kind, line


def _short(text: Any) -> str:
    return bounded(text if isinstance(text, str) else str(text), limit=LONGEST)


_SHEETS = ("tokens.css", "markdown.css", "code.css", "transcript.css")


@cache
def style() -> str:
    """All sheets as one text; none of them names a resource."""
    folder = Path(settings.STATICFILES_DIRS[0]) / "css"
    return "\n".join((folder / name).read_text("utf-8").strip() for name in _SHEETS)


@cache
def policy() -> str:
    """Content-Security-Policy: this style (CSP 3, hash source), pictures inside of the page, nothing more."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
