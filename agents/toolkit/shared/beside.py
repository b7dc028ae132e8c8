"""Several agents and people change one file: by place, and each agent is told what changed beside it.

What a session last saw of a file is held in memory, of large and of many files only which content it was. Of
what was forgotten, the file as it is now counts.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock

from agents.toolkit.base import FileWrite, ToolError
from agents.toolkit.file_names import printable
from agents.toolkit.shared.proposals import bounded
from sessions.changes.diffs.endings import editable
from sessions.changes.diffs.lines import diff_text
from sessions.changes.undo.merge import Conflict, three_way
from sessions.core import filetext

LARGEST = 1024 * 1024
ROOM = 16 * 1024 * 1024
"""Bytes of one content, and of all that are held."""
MOST_TOLD = 4000
"""Characters of a diff that the model is shown."""
_LINES = 10

_seen: OrderedDict[tuple[str, Path], bytes] = OrderedDict()
_digests: OrderedDict[tuple[str, Path], bytes] = OrderedDict()
_MOST_DIGESTS = 20_000
_held = 0
_lock = Lock()


def learn(session_id: str, path: Path, content: bytes | None) -> None:
    """The session has seen what the file holds; None: there is no file."""
    global _held
    digest = _digest(content) if content is not None else b""
    with _lock:
        _held -= len(_seen.pop((session_id, path), b""))
        _digests.pop((session_id, path), None)
        if content is not None:
            _digests[session_id, path] = digest
        while len(_digests) > _MOST_DIGESTS:
            _digests.popitem(last=False)
        if content is not None and len(content) <= LARGEST:
            _seen[session_id, path] = content
            _held += len(content)
        while _held > ROOM:
            _held -= len(_seen.popitem(last=False)[1])


def seen(session_id: str, path: Path) -> bytes | None:
    """What the session last saw of a file; None where that is not known."""
    with _lock:
        return _seen.get((session_id, path))


def require_unchanged(session_id: str, path: Path, title: str, current: bytes) -> None:
    """Raise ToolError where a file is not what the session last saw of it; nothing for one it never saw."""
    with _lock:
        digest, known = _digests.get((session_id, path)), _seen.get((session_id, path))
    if digest is None or digest == _digest(current):
        return
    words = f"{title} was not changed: somebody else changed it since you read it. Read it again."
    if known is None:
        raise ToolError(words)
    diff = bounded(diff_text(_text(known), _text(current), title), MOST_TOLD)
    raise ToolError(f"{words} From what you read to what it is now:\n{diff}")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def rebased(item: FileWrite, current: bytes | None) -> FileWrite:
    """A write onto a file as it is now: what was changed from `expected` to `content`, where it belongs.
    Raises ToolError where the same lines have been changed, or the file has come or gone."""
    if current == item.expected:
        return item
    name = printable(str(item.path))
    if item.content is None or item.expected is None or current is None:
        what = "removed" if current is None else "made" if item.expected is None else "changed"
        raise ToolError(f"{name} was {what} by somebody else in the meantime. Look at it again.")
    merge = three_way(item.expected, current, item.content)
    if merge.content is None:
        raise ToolError(_conflict(name, merge.conflicts, item.expected, current))
    return replace(item, content=merge.content, expected=current)


def told(session_id: str, title: str, made: FileWrite) -> str:
    """For the model: what others changed in a file since the session saw it last, given the write it made
    now; empty for nothing. From here on the session has seen the file as it is."""
    known = seen(session_id, made.path)
    learn(session_id, made.path, made.content)
    if known is None or made.expected is None or made.content is None or known == made.expected:
        return ""
    believed = three_way(made.expected, known, made.content).content
    if believed is None or believed == made.content:
        return ""
    diff = bounded(diff_text(_text(believed), _text(made.content), title), MOST_TOLD)
    return (
        f"Others changed {title} as well since you last read it. Their changes are kept beside yours:\n{diff}"
    )


def _conflict(name: str, conflicts: Sequence[Conflict], expected: bytes, current: bytes) -> str:
    lines = ", ".join(str(conflict.line) for conflict in conflicts[:_LINES])
    diff = bounded(diff_text(_text(expected), _text(current), name), MOST_TOLD)
    return (
        f"{name} was not changed: somebody else changed the same lines (at line {lines}) since you read it. "
        f"Read it again. From what you read to what it is now:\n{diff}"
    )


def _text(content: bytes) -> str:
    return editable(filetext.detect(content).decode(content))
