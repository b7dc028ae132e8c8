"""Search the contents of a project's files by a regular expression."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from . import ripgrep

_OPTIONS = ("--json", "--hidden", "--glob=!.git", "--max-count=50")


async def find_text(directory: Path, pattern: str, *, limit: int = 10) -> list[dict[str, Any]]:
    """Matches as ripgrep's JSON has them: path, lines, line_number, absolute_offset, submatches.

    The search ends at the limit. Raises SearchFailed.
    """
    return await asyncio.to_thread(_find_text, directory, pattern, limit)


def _find_text(directory: Path, pattern: str, limit: int) -> list[dict[str, Any]]:
    with closing(ripgrep.lines(directory, [*_OPTIONS, "-e", pattern, "--", "."])) as lines:
        matches = (json.loads(line)["data"] for line in lines if line.startswith(b'{"type":"match"'))
        return [_match(data) for data in islice(matches, limit)]


def _match(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": {"text": _text(data["path"]).removeprefix("./")},
        "lines": {"text": _text(data["lines"])},
        "line_number": data["line_number"],
        "absolute_offset": data["absolute_offset"],
        "submatches": [
            {"match": {"text": _text(item["match"])}, "start": item["start"], "end": item["end"]}
            for item in data["submatches"]
        ],
    }


def _text(data: dict[str, str]) -> str:
    """What is not UTF-8 comes as base64, which the wire has no place for."""
    if "text" in data:
        return data["text"]
    return base64.b64decode(data["bytes"]).decode("utf-8", "replace")
