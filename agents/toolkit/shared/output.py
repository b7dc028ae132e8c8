"""Bounding Model Tool Output: the head and the tail for the model, the whole in a managed output file.

The preview is what is kept for good;
the file may expire, and failing to keep it never fails a tool that succeeded.
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.config.schema import ToolOutputConfig
from agents.toolkit.base import ToolResult

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
PREFIX = "tool_"
SLACK_LINES = 20
SLACK_BYTES = 1024
"""What a tool that bounds its output itself may add to it: notes on what was left out."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounded:
    """`text` is for the model; `path` holds the whole when it was cut and could be kept."""

    text: str
    path: Path | None
    truncated: bool


def model_output(result: ToolResult, limits: ToolOutputConfig, directory: Path) -> tuple[str, dict[str, Any]]:
    """The Model Tool Output of a result, and its metadata with what became of the rest.

    A result that has no text is shown to the model as the JSON of its metadata, which stays as it is. A file
    that the tool kept itself is the one that is named. Never raises for a file that cannot be kept.
    """
    metadata = dict(result.metadata)
    text = result.output or (json.dumps(metadata, ensure_ascii=False, default=str) if metadata else "")
    kept = metadata.get("outputPath")
    bounded = bound(
        text,
        directory,
        max_lines=limits.max_lines + (SLACK_LINES if result.bounded else 0),
        max_bytes=limits.max_bytes + (SLACK_BYTES if result.bounded else 0),
        kept=Path(kept) if isinstance(kept, str) else None,
    )
    if bounded.truncated or not result.bounded:
        metadata["truncated"] = bounded.truncated
    if bounded.path:
        metadata["outputPath"] = str(bounded.path)
    return bounded.text, metadata


def bound(
    text: str,
    directory: Path,
    *,
    max_lines: int = MAX_LINES,
    max_bytes: int = MAX_BYTES,
    kept: Path | None = None,
) -> Bounded:
    """Cut `text` to both limits (UTF-8 bytes, notice included) and keep the whole in `directory`, unless
    `kept` has it already.

    What cannot be written as UTF-8 is escaped. The limits are meant for 1 KB and 10 lines upward.
    """
    data = text.encode("utf-8", "backslashreplace")
    lines = data.count(b"\n") + 1
    if len(data) <= max_bytes and lines <= max_lines:
        return Bounded(data.decode(), None, False)
    path = kept or _keep(data, directory)
    room = max_bytes - len(_notice(len(data), len(data), lines, path).encode())
    head = _head(data, max(room // 2, 0), (max_lines - 4) // 2)
    tail = _tail(data[len(head) :], max(room // 2, 0), (max_lines - 4) // 2)
    notice = _notice(len(data) - len(head) - len(tail), len(data), lines, path)
    return Bounded(f"{head.decode()}{notice}{tail.decode()}", path, True)


def expire(directory: Path, max_age_seconds: float) -> int:
    """Remove managed output files that were last written more than `max_age_seconds` ago; how many went."""
    oldest = time.time() - max_age_seconds
    removed = 0
    for path in directory.glob(f"{PREFIX}*"):
        try:
            if path.lstat().st_mtime < oldest:
                path.unlink()
                removed += 1
        except OSError as error:
            logger.warning("expired output %s stays: %s", path.name, error)
    return removed


def _notice(omitted: int, size: int, lines: int, path: Path | None) -> str:
    where = (
        f"the whole is in {path}: read or grep it there" if path else "the rest could not be kept and is lost"
    )
    return f"\n\n[... {omitted} of {size} bytes left out here ({lines} lines in all); {where} ...]\n\n"


def _head(data: bytes, size: int, lines: int) -> bytes:
    cut = data[:size]
    end = _nth(cut, lines)
    if end < 0:
        # A line that is cut is better than losing most of the room to it.
        end = newline if (newline := cut.rfind(b"\n")) >= size // 2 else len(cut)
    return cut[:end].decode("utf-8", "ignore").encode()


def _tail(data: bytes, size: int, lines: int) -> bytes:
    cut = data[-size:] if size else b""
    start = _nth_from_end(cut, lines)
    if start < 0:
        newline = cut.find(b"\n")
        start = newline + 1 if 0 <= newline <= size // 2 else 0
    return cut[start:].decode("utf-8", "ignore").encode()


def _nth(data: bytes, lines: int) -> int:
    """Where the line break after the first `lines` lines is, or -1."""
    at = -1
    for _ in range(lines):
        at = data.find(b"\n", at + 1)
        if at < 0:
            break
    return at


def _nth_from_end(data: bytes, lines: int) -> int:
    """Where the last `lines` lines begin, or -1."""
    at = len(data)
    for _ in range(lines):
        at = data.rfind(b"\n", 0, at)
        if at < 0:
            return -1
    return at + 1


def _keep(data: bytes, directory: Path) -> Path | None:
    path = directory / f"{PREFIX}{uuid.uuid4().hex}.txt"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
    except OSError as error:
        logger.warning("tool output of %d bytes was not kept in %s: %s", len(data), directory, error)
        _discard(path)
        return None
    return path


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("unfinished output %s stays: %s", path.name, error)
