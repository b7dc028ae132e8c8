"""One JSON file, with the reason in words where it cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from sessions.core.sentences import Sentence

from .records import MAX_RECORD, Unreadable


def load(path: Path, limit: int = MAX_RECORD) -> Any:
    """What is in it. Raises Unreadable for what is no regular file, longer than `limit` bytes, or no JSON."""
    try:
        if not path.is_file():
            raise Unreadable(Sentence("this is no file"))
        if path.stat().st_size > limit:
            raise Unreadable(Sentence("larger than %(most)s MB", most=limit // 1024 // 1024))
        return parse(path.read_bytes())
    except OSError as error:
        raise Unreadable(Sentence("cannot be read: %(error)s", error=error.strerror or error)) from error


def load_object(path: Path, limit: int = MAX_RECORD) -> dict[str, Any]:
    """The same for a file with one JSON object."""
    found = load(path, limit)
    if not isinstance(found, dict):
        raise Unreadable(Sentence("holds no JSON object"))
    return found


def parse(data: bytes | str) -> Any:
    """JSON with whatever bytes are no UTF-8 replaced. Raises Unreadable with the place of the fault."""
    if not data.strip():
        raise Unreadable(Sentence("empty"))
    words = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        return json.loads(words, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        ends = words.lstrip()[0] not in "{[" or words.rstrip()[-1] in "}]"
        broken = gettext_noop("broken JSON (line %(line)s, column %(column)s)")
        truncated = gettext_noop("truncated JSON (line %(line)s, column %(column)s)")
        raise Unreadable(
            Sentence(broken if ends else truncated, line=error.lineno, column=error.colno)
        ) from error
    except RecursionError as error:
        raise Unreadable(Sentence("nested too deeply")) from error
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(Sentence("broken JSON (%(error)s)", error=error)) from error


def _no_number(name: str) -> Any:
    raise Unreadable(Sentence("%(name)s is no JSON", name=name))
