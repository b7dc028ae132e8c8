"""What is known of a damaged database: the files that were put aside, and what could be read from the last.

As long as such a file lies beside the database nothing kept for undo is swept: it may name what the database
no longer does (docs/decisions/0021).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.utils.translation import gettext, ngettext

from sessions.core.ids import now
from sessions.core.sentences import grouped

from .copies import database

_REPORT = "salvage.json"
_ASIDE = ".corrupt-"
_APP = "opencode_sessions_"
_OTHERS = "others"
_WORDS: Final[dict[str, Callable[[int], str]]] = {
    "session": lambda n: ngettext("%(count)s conversation", "%(count)s conversations", n),
    "message": lambda n: ngettext("%(count)s message", "%(count)s messages", n),
    "part": lambda n: ngettext("%(count)s part of messages", "%(count)s parts of messages", n),
    "filechange": lambda n: ngettext("%(count)s change of a file", "%(count)s changes of files", n),
    "admittedprompt": lambda n: ngettext("%(count)s waiting prompt", "%(count)s waiting prompts", n),
    "savedrule": lambda n: ngettext("%(count)s permission rule", "%(count)s permission rules", n),
    "operation": lambda n: ngettext("%(count)s undo or redo", "%(count)s undos and redos", n),
    _OTHERS: lambda n: ngettext("%(count)s other row", "%(count)s other rows", n),
}
"""What a person knows of the tables, in this order; at last of all others together."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a salvage brought. `file` is the damaged one, `copy` the name of the copy that gave what it
    lacked, `saved` and `lost` name and count rows in words, `unknown` says that more may be lost."""

    file: Path
    saved: str
    lost: str
    copied: str
    unknown: bool
    dismissed: bool

    @property
    def there(self) -> bool:
        """Whether the damaged file still lies there."""
        return self.file.exists()

    @property
    def text(self) -> str:
        """In one paragraph, for the page and the terminal."""
        if not self.saved:
            said = [
                gettext("The database was damaged, and nothing could be read from it: a new one was begun.")
            ]
        else:
            said = [gettext("The database was damaged. Saved: %(saved)s.") % {"saved": self.saved}]
        if self.copied:
            said.append(gettext("Of these, taken from an older copy: %(copied)s.") % {"copied": self.copied})
        if self.saved and self.lost:
            said.append(gettext("Lost: %(lost)s.") % {"lost": self.lost})
        elif self.saved and not self.unknown:
            said.append(gettext("Nothing was lost."))
        if self.unknown:
            said.append(gettext("More may be lost than could be counted."))
        return " ".join(said)


def files() -> list[Path]:
    """The damaged files that were put aside, the oldest first; without their write-ahead logs."""
    file = database()
    if file is None:
        return []
    found = file.parent.glob(f"{file.name}{_ASIDE}*")
    return sorted(path for path in found if not path.name.endswith(("-wal", "-shm", "-journal")))


def aside(file: Path, stamp: str) -> Path:
    """Where a damaged database goes."""
    return file.with_name(f"{file.name}{_ASIDE}{stamp}")


def write_report(file: Path, tables: list[dict[str, Any]], copy: str) -> None:
    """Note what came of each table (`name`, `saved`, `copied`, `lost`, `unknown`), for the page to say."""
    _write({"file": file.name, "time": now(), "copy": copy, "tables": tables, "dismissed": False})


def report() -> Report | None:
    """What the last salvage brought; None when there was none."""
    path = _path()
    try:
        data = json.loads(path.read_text()) if path else None
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or path is None:
        return None
    tables: list[Mapping[str, Any]] = data["tables"]
    return Report(
        path.with_name(data["file"]),
        _counted({table["name"]: table["saved"] + table["copied"] for table in tables}),
        _counted({table["name"]: table["lost"] for table in tables}, others=True),
        _counted({table["name"]: table["copied"] for table in tables}, others=True),
        any(table["unknown"] for table in tables),
        bool(data["dismissed"]),
    )


def is_told() -> bool:
    """Whether pages say what came of it: until that is dismissed."""
    found = report()
    return found is not None and not found.dismissed


def dismiss() -> None:
    """The person has read it."""
    path = _path()
    if path and path.exists():
        _write({**json.loads(path.read_text()), "dismissed": True})


def forget() -> None:
    """Nothing of it is of use any more: the damaged files go, and what was said of them."""
    for file in files():
        for suffix in ("-wal", "-shm", "-journal", ""):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
    if path := _path():
        path.unlink(missing_ok=True)


def _write(data: dict[str, Any]) -> None:
    if path := _path():
        partial = path.with_name(f"{path.name}.partial")
        partial.write_text(json.dumps(data))
        partial.chmod(0o600)
        partial.replace(path)


def _path() -> Path | None:
    file = database()
    return file.with_name(_REPORT) if file else None


def _counted(numbers: Mapping[str, int], *, others: bool = False) -> str:
    """`6 conversations, 71 messages`; rows that have no name for a person are counted together."""
    left = {name.removeprefix(_APP): count for name, count in numbers.items() if count}
    named = {table: left.pop(table) for table in _WORDS if table in left}
    if others and left:
        named[_OTHERS] = sum(left.values())
    return ", ".join(_WORDS[table](count) % {"count": grouped(count)} for table, count in named.items())
