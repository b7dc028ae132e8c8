"""Folders beside the project that a session may read: added by a person, each with a name of its own.

They are references, but for those that a person lets it write in: each of these is a project of its own,
whose ledger undo goes by (docs/decisions/0042-added-folders.md).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from sessions.core import opened
from sessions.core.models import Session
from sessions.core.repository import Repository

from . import sessions as session_store
from .family import below, topmost

MOST = 20
"""Of one session."""


class Refused(ValueError):
    """A folder that cannot be added; the text is for people and says why."""


@dataclass(frozen=True, slots=True)
class AddedFolder:
    """`path` is absolute and real; by `name` paths in it can begin. Tools may `write` in it, or only read."""

    name: str
    path: Path
    write: bool = False

    def holds(self, path: Path) -> bool:
        """Whether a real path is the folder or lies in it."""
        return path.is_relative_to(self.path)


def of(session: Session) -> tuple[AddedFolder, ...]:
    """Those that were added to a session, the first one first."""
    return tuple(
        AddedFolder(entry["name"], Path(entry["path"]), bool(entry.get("write"))) for entry in session.folders
    )


def holding(folders: Iterable[AddedFolder], path: Path) -> AddedFolder | None:
    """The one that a real path lies in."""
    return next((folder for folder in folders if folder.holds(path)), None)


def checked(given: str, directory: Path, worktree: Path, *, write: bool = False) -> Path:
    """The real path of a folder that a session in `directory` of the project at `worktree` may have added, to
    `write` in it too; `given` may begin with `~`, or else be seen from the directory. Raises Refused. Blocks.
    """
    if not given.strip() or "\0" in given:
        raise Refused(gettext("Give the path of a folder."))
    try:
        folder = (directory / Path(given.strip()).expanduser()).resolve()
        there, is_folder = folder.exists(), folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused(gettext("This path cannot be read: %(error)s") % {"error": error}) from error
    if not there:
        raise Refused(gettext("There is no folder %(folder)s.") % {"folder": folder})
    if not is_folder:
        raise Refused(gettext("%(folder)s is a file; give the folder that it is in.") % {"folder": folder})
    if reason := _reason(folder, directory, worktree):
        raise Refused(
            gettext("%(folder)s cannot be added: %(reason)s") % {"folder": folder, "reason": reason}
        )
    if write and (reason := _unwritable(folder)):
        raise Refused(
            gettext("%(folder)s cannot be written: %(reason)s") % {"folder": folder, "reason": reason}
        )
    return folder


def _unwritable(folder: Path) -> str:
    """Why nothing can be written in a folder that can be added: undo goes by whole projects."""
    root = Repository.of(folder).worktree
    if root != folder:
        return gettext("it is in the repository %(root)s. Add that one, if the agent is to write in it.") % {
            "root": root
        }
    return "" if os.access(folder, os.W_OK) else gettext("you may not write there.")


def require_apart(folder: Path, others: Iterable[AddedFolder]) -> None:
    """What is written in a folder must be one project's only. Raises Refused where another that may be
    written lies in it, or the other way round."""
    for other in others:
        if other.write and other.path != folder and (other.holds(folder) or folder in other.path.parents):
            raise Refused(
                gettext("%(folder)s cannot be written beside %(path)s: one of them is in the other.")
                % {"folder": folder, "path": other.path}
            )


def _reason(folder: Path, *project: Path) -> str:
    """Why a folder that is there is none to add; empty where it is."""
    places, data = [place.resolve() for place in project], Path(settings.DATA_DIR).resolve()
    if any(folder.is_relative_to(place) for place in places if place.parent != place):
        return gettext("it is in the project already.")
    if any(place.is_relative_to(folder) for place in places):
        return gettext("the project is in it. Open it as the project, if the agent is to work there.")
    if data.is_relative_to(folder) or folder.is_relative_to(data):
        return gettext("the server keeps its own data there.")
    if opened.holds_home(folder):
        return gettext("your whole home folder is in it.")
    if not opened.may_open(folder):
        return gettext("%(caution)s Open it as a project first, which asks you.") % {
            "caution": opened.caution(folder)
        }
    if not os.access(folder, os.R_OK | os.X_OK):
        return gettext("you may not read it.")
    if not str(folder).isprintable():
        return gettext("its name has characters that cannot be shown.")
    return ""


def named(
    path: Path, directory: Path, others: Collection[AddedFolder], *, write: bool = False
) -> AddedFolder:
    """With the folder's own name, or one with a number where another is called so or the session's folder has
    something of that name. Blocks."""
    taken = {other.name for other in others}
    base = path.name.replace(" ", "-")
    name, number = base, 1
    while name in taken or os.path.lexists(directory / name):
        number += 1
        name = f"{base}-{number}"
    return AddedFolder(name, path, write)


def add(session: Session, path: Path, *, write: bool = False) -> Session | None:
    """Add a folder that is `checked` to the topmost session and those below it; of one that is added already
    only whether it may be written is set. The session as it is then, None when it is gone. Raises Refused
    where there are too many, or it is not apart."""
    with transaction.atomic():
        known = of(session_store.locked(topmost(session).id))
        if write:
            require_apart(path, known)
        if any(folder.path == path for folder in known):
            _put(session, [replace(one, write=write) if one.path == path else one for one in known])
        elif len(known) >= MOST:
            raise Refused(gettext("There are %(most)s folders already; remove one first.") % {"most": MOST})
        else:
            _put(session, [*known, named(path, Path(session.directory), known, write=write)])
    return session_store.get(session.id)


def remove(session: Session, name: str) -> Session | None:
    """The same without the one of a name."""
    with transaction.atomic():
        known = of(session_store.locked(topmost(session).id))
        if any(folder.name == name for folder in known):
            _put(session, [folder for folder in known if folder.name != name])
    return session_store.get(session.id)


def _kept(folder: AddedFolder) -> dict[str, str | bool]:
    return {"name": folder.name, "path": str(folder.path), **({"write": True} if folder.write else {})}


def _put(session: Session, folders: Sequence[AddedFolder]) -> None:
    kept = [_kept(folder) for folder in folders]
    root = topmost(session)
    for row in (root, *below(root.id)):
        session_store.update(row.id, folders=kept)
