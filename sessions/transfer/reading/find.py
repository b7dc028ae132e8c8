"""Which kind of source a path is, and where OpenCode keeps its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sessions.core import paths, variables
from sessions.core.sentences import Sentence

from .database import Database
from .exported import Exported
from .folder import Folder
from .layouts import layouts
from .records import Source, Unreadable

_SQLITE = b"SQLite format 3\0"


def sources(path: Path) -> list[Source]:
    """What is at a path: a data folder of OpenCode may have files of the old form and a database.

    Raises Unreadable for what is none of them.
    """
    try:
        if path.is_dir():
            found = [*_in_folder(path)]
            if found:
                return found
            raise Unreadable(
                Sentence("%(path)s holds neither a file storage nor a database of OpenCode", path=path)
            )
        if path.exists() and not path.is_file():
            raise Unreadable(Sentence("%(path)s is neither a file nor a folder", path=path))
        with path.open("rb") as file:
            return [Database(path) if file.read(len(_SQLITE)) == _SQLITE else Exported(path)]
    except OSError as error:
        raise Unreadable(
            Sentence("%(path)s cannot be read: %(error)s", path=path, error=error.strerror or error)
        ) from error


def places(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """OpenCode's data folder (XDG, else `~/.local/share`), and the database that OPENCODE_DB names."""
    home = Path(environ.get("HOME") or Path.home())
    data = paths.data_home(environ) / "opencode"
    usual = home / ".local" / "share" / "opencode"
    named = variables.OPENCODE_DB.read(environ)
    other = [data / named] if named and named != ":memory:" else []
    return [path for path in dict.fromkeys([data, usual, *other]) if path.exists()]


def found(environ: Mapping[str, str] = os.environ) -> list[Source]:
    """The sources in the default places; a place that holds nothing is passed over."""
    every: dict[Path, Source] = {}
    for place in places(environ):
        try:
            every |= {source.path: source for source in sources(place)}
        except Unreadable:
            continue
    return list(every.values())


def _in_folder(path: Path) -> Iterator[Source]:
    """The database last: it has what was made of the files since."""
    if layouts(path):
        yield Folder(path)
    for file in sorted(path.glob("opencode*.db")):
        if file.is_file():
            yield Database(file)
