"""Files that were broken from elsewhere: new errors in one whose own content stayed the same."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.lsp.types import ERROR, Diagnostic, Update

MOST_FILES = 5000

Errors = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one server found in one file: `content` is a hash of what it looked at, `broken` are those of the
    errors that came with the same content, the last of them at `mark`."""

    content: int | None
    errors: Errors
    broken: Errors = ()
    mark: int = 0


class Breaks:
    """Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Path, str], _Seen] = OrderedDict()
        self._mark = 0

    @property
    def mark(self) -> int:
        """Rises with every break."""
        return self._mark

    def hear(self, update: Update) -> None:
        key = (update.path, update.server)
        with self._lock:
            before = self._seen.pop(key, None)
            if update.content is None and not update.diagnostics:
                return  # it may be that the server was forgotten, and begins anew
            self._seen[key] = self._after(before, update)
            if len(self._seen) > MOST_FILES:
                self._seen.popitem(last=False)

    def since(self, mark: int, folder: Path) -> Mapping[Path, Errors]:
        """The files below a folder that were broken after a mark and still are, with these errors."""
        found: dict[Path, Errors] = {}
        with self._lock:
            for (path, _), seen in self._seen.items():
                if seen.broken and seen.mark > mark and path.is_relative_to(folder):
                    found[path] = found.get(path, ()) + seen.broken
        return dict(sorted(found.items()))

    def _after(self, before: _Seen | None, update: Update) -> _Seen:
        content = None if update.content is None else hash(update.content)
        errors = tuple(item for item in update.diagnostics if item.severity == ERROR)
        if before is None or before.content != content:
            return _Seen(content, errors)
        new = _without(errors, before.errors)
        self._mark += bool(new)
        kept = _without(errors, _without(errors, (*before.broken, *new)))
        return _Seen(content, errors, kept, self._mark if new else before.mark)


def _without(errors: Sequence[Diagnostic], others: Sequence[Diagnostic]) -> Errors:
    """Those that are not among others, wherever in the file these stand."""
    known = Counter(_same(item) for item in others)
    found = []
    for item in errors:
        if known[_same(item)] > 0:
            known[_same(item)] -= 1
        else:
            found.append(item)
    return tuple(found)


def _same(item: Diagnostic) -> tuple[str, str]:
    return item.code, item.message


breaks = Breaks()
