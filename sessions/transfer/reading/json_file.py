"""One JSON file, with the reason in words where it cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .records import MAX_RECORD, Unreadable


def load(path: Path, limit: int = MAX_RECORD) -> Any:
    """What is in it. Raises Unreadable for what is no regular file, longer than `limit` bytes, or no JSON."""
    try:
        if not path.is_file():
            raise Unreadable("this is no file")
        if path.stat().st_size > limit:
            raise Unreadable(f"larger than {limit // 1024 // 1024} MB")
        return parse(path.read_bytes())
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error


def load_object(path: Path, limit: int = MAX_RECORD) -> dict[str, Any]:
    """The same for a file with one JSON object."""
    found = load(path, limit)
    if not isinstance(found, dict):
        raise Unreadable("holds no JSON object")
    return found


def parse(data: bytes | str) -> Any:
    """JSON with whatever bytes are no UTF-8 replaced. Raises Unreadable with the place of the fault."""
    if not data.strip():
        raise Unreadable("empty")
    words = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        return json.loads(words, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        ends = words.lstrip()[0] not in "{[" or words.rstrip()[-1] in "}]"
        kind = "broken" if ends else "truncated"
        raise Unreadable(f"{kind} JSON (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(f"broken JSON ({error})") from error


def _no_number(name: str) -> Any:
    raise Unreadable(f"{name} is no JSON")
