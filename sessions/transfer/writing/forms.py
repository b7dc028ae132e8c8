"""The forms of an export by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sessions.core.text import visible
from sessions.transfer.writing.document import Document, Wire, as_json
from sessions.transfer.writing.redact import redacted
from sessions.transfer.writing.sanitize import sanitized
from sessions.transfer.writing.transcript import as_html


@dataclass(frozen=True, slots=True)
class Form:
    ending: str
    media: str
    write: Callable[[Document, bool], str]
    """`write(document, redacted)` of what is redacted already, if it is to be."""


FORMS = {
    "json": Form("json", "application/json", lambda document, _: as_json(document)),
    "markdown": Form("md", "text/markdown; charset=utf-8", lambda document, _: as_markdown(document)),
    # As a file only: no browser is to show it as a page of this server.
    "html": Form("html", "application/octet-stream", lambda document, red: as_html(document, redacted=red)),
}


def written(document: Document, form: str, *, redact: bool = False, sanitize: bool = False) -> bytes:
    """The file, without secrets or without any words; takes a while for a long conversation. Raises KeyError
    for an unknown form."""
    if sanitize:
        document = sanitized(document)
    elif redact:
        document = redacted(document)
    return FORMS[form].write(document, redact).encode("utf-8", "replace")


# The conversation as Markdown, for people.
#
# What people, models and tools wrote is hostile to whoever opens the file: all of it stands in code fences,
# so
# that no heading is forged, no tag acts and no image is fetched.

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&-])")


def as_markdown(document: Document) -> str:
    """What was said, called and answered, then the same of each subagent."""
    return "\n\n".join(block for one in document.every() for block in _blocks(one)) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    info = document.info
    day = datetime.fromtimestamp(info["time"]["created"] / 1000, UTC).date()
    yield f"# {_line(info['title'])}"
    yield f"{'Subagent session' if info.get('parentID') else 'Session'} {_line(info['id'])}, begun {day}"
    if document.runs:
        yield "The session was at work when this was written; it is as it stood then."
    for entry in document.shown():
        found = [block for part in entry["parts"] for block in _part(part)]
        if found:
            yield _heading(entry["info"])
            yield from found


def _heading(info: Wire) -> str:
    if info["role"] == "user":
        return "## You"
    return f"## Agent {_line(info.get('agent', ''))}, model {_line(info.get('modelID', ''))}"


def _part(part: Wire) -> Iterator[str]:
    if part.get("synthetic") or part.get("ignored"):
        return
    match part["type"]:
        case "text":
            yield _fenced(part.get("text", ""), "markdown")
        case "reasoning" if part.get("text"):
            yield "### Thinking"
            yield _fenced(part["text"], "markdown")
        case "file":
            yield f"Attached: {_line(part.get('filename') or 'a file')}"
        case "tool":
            yield from _call(part)
        case "compaction":
            yield "What came before was compacted here."


def _call(part: Wire) -> Iterator[str]:
    state = part["state"]
    yield f"### Tool {_line(part['tool'])}: {_line(state['status'])}"
    yield _fenced(json.dumps(state.get("input") or {}, ensure_ascii=False, indent=2), "json")
    if outcome := state.get("output") or state.get("error"):
        yield _fenced(str(outcome), "text")


def _line(text: str) -> str:
    """Text as one line that means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(str(text).split())))


def _fenced(text: str, language: str) -> str:
    """In a fence that is longer than any inside it."""
    text = visible(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
