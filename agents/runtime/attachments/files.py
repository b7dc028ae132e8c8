"""A file of this machine that a prompt names by `file://…?start=…&end=…`, or a symbol in one: read as the
`read` tool reads it.

The person attached it, so what the rules would ask about is answered; what they deny stays denied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from agents.lsp.uses.refine import Lines, lines_of
from agents.permission.errors import NotPermitted, PermissionDenied
from agents.permission.rules import judge
from agents.runtime.attachments.readers import READERS, Parts, Reading, said
from agents.runtime.calls.context import CallContext
from agents.tools import read
from agents.tools.base import Approval, Outcome, ToolError, ToolResult
from agents.tools.shared.names import printable
from sessions.wire.parts import Pending, ToolPart

NAME = "files"


async def attached(reading: Reading, part: Mapping[str, Any]) -> Parts | None:
    """What the file holds, in words before the part; a picture or a PDF becomes the part's own content."""
    url = urlsplit(str(part["url"]))
    if url.scheme != "file":
        return None
    path = Path(os.fsdecode(unquote_to_bytes(url.path)))
    title = printable(str(path))
    try:
        if url.netloc not in ("", "localhost"):
            raise ToolError(f"{url.netloc} is another machine.")
        lines = await lines_of(reading.turn.directory, path, url.query, part.get("source") or {})
        result = await read.execute(_input(path, lines), _Attached(reading))
    except (ToolError, NotPermitted) as error:
        return [said(f"[The attached file {title} is not included. {error}]"), _as_text(part)]
    return _parts(part, title, lines, result)


def register() -> None:
    READERS[NAME] = attached


def _input(path: Path, lines: Lines | None) -> read.Input:
    given: dict[str, Any] = {"filePath": str(path)}
    if lines is not None:
        given["offset"] = lines.first
        if lines.last is not None:
            given["limit"] = lines.last - lines.first + 1
    return read.Input.model_validate(given)


def _parts(part: Mapping[str, Any], title: str, lines: Lines | None, result: ToolResult) -> Parts:
    if result.attachments:
        (file,) = result.attachments
        return [{**part, "mime": file.mime, "url": file.url}]
    what = f"{title}{_where(lines)}" if lines else title
    return [said(f"The user attached {what}:\n{result.output}"), _as_text(part)]


def _as_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part that people see, of a kind that is not sent beside the words."""
    known = part["mime"].startswith("text/") or part["mime"] == "application/x-directory"
    return {**part} if known else {**part, "mime": "text/plain"}


def _where(lines: Lines) -> str:
    """Such as `, greet (lines 3 to 9)`."""
    name = f", {printable(lines.symbol)[:200]}" if lines.symbol else ""
    if lines.last is None:
        return f"{name} (from line {lines.first})"
    return (
        f"{name} (lines {lines.first} to {lines.last})"
        if lines.last > lines.first
        else f"{name} (line {lines.first})"
    )


class _Attached(CallContext):
    """Reads for a prompt that is being promoted, which no call is part of."""

    def __init__(self, reading: Reading) -> None:
        part = ToolPart(
            id="",
            session_id=reading.run.session.id,
            message_id=reading.message_id,
            call_id="",
            tool="read",
            state=Pending(),
        )
        super().__init__(reading.run, reading.turn, part, _no_calls)

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
    ) -> Approval:
        verdict = judge(permission, patterns, self.turn.rules, ())
        if verdict.action == "deny":
            raise PermissionDenied(verdict.rules[0])
        return Approval()


async def _no_calls(outer: ToolPart, name: str, arguments: Mapping[str, Any]) -> Outcome:
    raise ToolError("An attachment makes no calls.")
