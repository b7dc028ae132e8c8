"""Reports of tests as JUnit writes them, and most runners of tests can: found where a check wrote them."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.parsers import expat

from sessions.core.platform.stamps import Stamp, stamp_of

MOST_FILES = 500
MOST_ENTRIES = 50_000
"""Of the folders that are looked through."""
LARGEST = 32 * 1024 * 1024
_LOOK = 4096
OUTCOMES = ("passed", "failed", "skipped")
_SKIPPED = {".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__"}


_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""What is a link or a pipe by now is not waited for."""


def reports(folder: Path) -> dict[Path, Stamp]:
    """What may be reports in a folder, each with what tells that it was written anew."""
    found: dict[Path, Stamp] = {}
    for path in _named(folder):
        try:
            seen = path.lstat()
        except OSError:
            continue
        if stat.S_ISREG(seen.st_mode):
            found[path] = stamp_of(seen)
    return found


def counted(folder: Path, before: Mapping[Path, Stamp]) -> dict[str, int]:
    """How many tests `passed`, `failed` and were `skipped`, by the reports in a folder that are others than
    they were `before`; empty where there is none."""
    read = [_counts(path) for path, now in reports(folder).items() if before.get(path) != now]
    found = [one for one in read if one is not None]
    return {name: sum(one[name] for one in found) for name in OUTCOMES} if found else {}


def _counts(path: Path) -> Counter[str] | None:
    """Of one report; None for a file that is none. What a document declares is not followed."""
    try:
        with open(os.open(path, _PLAINLY), "rb") as file:
            start = file.read(_LOOK)
            if b"<testsuite" not in start:
                return None
            return _Report().read(start, file.read(LARGEST + 1))
    except (OSError, expat.ExpatError, _NoReport):
        return None


class _NoReport(Exception):
    """Another document, or one that is too large."""


class _Report:
    def __init__(self) -> None:
        self._depth = 0
        self._case = 0
        """How deep the test that is open stands; 0 for none."""
        self._outcome = "passed"
        self._counts: Counter[str] = Counter()

    def read(self, start: bytes, rest: bytes) -> Counter[str]:
        if len(rest) > LARGEST:
            raise _NoReport
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._declared
        parser.Parse(start)
        parser.Parse(rest, True)
        return self._counts

    def _declared(self, *_: object) -> None:
        """Entities could make much of little; no report has any."""
        raise _NoReport

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name not in ("testsuites", "testsuite"):
            raise _NoReport
        if name == "testcase":
            self._case, self._outcome = self._depth, "passed"
        elif self._case and name in ("failure", "error"):
            self._outcome = "failed"
        elif self._case and name == "skipped" and self._outcome == "passed":
            self._outcome = "skipped"

    def _end(self, name: str) -> None:
        if self._depth == self._case:
            self._counts[self._outcome] += 1
            self._case = 0
        self._depth -= 1


def _named(folder: Path) -> Iterator[Path]:
    entries = files = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        entries += len(folders) + len(names)
        if entries > MOST_ENTRIES:
            return
        for name in names:
            if name.endswith(".xml"):
                files += 1
                if files > MOST_FILES:
                    return
                yield Path(place, name)
