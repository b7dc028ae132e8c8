"""What a person does to the files of a project: save one, make, move, copy and remove. Each act is an
operation, noted with the contents before and after, so that the log can take any of it back.

Like a verdict it needs nothing of the session: it works while the agent works. Paths are as seen from the
session; all of an act are in one root, but for files that are written anew at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

from django.utils.translation import gettext

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import count
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out
from sessions.changes.operations.lock import Refused, in_turn_of
from sessions.changes.roots import NoRoot, Roots, root_in
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker, tracker
from sessions.changes.undo.files import (
    NEW_FILE,
    FileState,
    UnsafePath,
    is_safe,
    make_folder,
    read_file,
    remove_empty_folder,
)
from sessions.changes.undo.plan import WRITES, FilePlan
from sessions.core.above import agents
from sessions.core.models import Operation, Session
from sessions.core.models.ledger import shown
from sessions.core.store.added_folders import AddedFolder, holding
from sessions.core.store.operations import Kind

T = TypeVar("T")

MOST_FILES = 2000
MOST_BYTES = 256 * 1024 * 1024
"""Of all files of one act: each of them is kept, so that it can be taken back."""

Act = Literal["save", "make", "move", "copy", "remove", "rename", "replace", "discard", "resolve"]


class Changed(Refused):
    """The file is not what the person saw when they began."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an act of a session takes place: the root, among those that its paths are seen by."""

    session: Session
    roots: Roots
    root: Tracker

    def carry_out(self, act: Act, plans: Iterable[FilePlan], actor: str) -> Operation | None:
        seen = [_seen(self.roots, self.root, plan) for plan in plans]
        return _carry_out(self.session, self.roots, act, seen, actor)


@dataclass(frozen=True, slots=True)
class _Folder:
    """What is below a path: files and, the deepest first, folders, itself among them; all relative to the
    root."""

    files: list[str]
    folders: list[str]


@dataclass(frozen=True, slots=True)
class _Move:
    path: str
    target: str

    def there(self, inner: str) -> str:
        """Where what is below the path goes to."""
        return str(PurePosixPath(self.target) / PurePosixPath(inner).relative_to(self.path))


async def save(
    session: Session, path: str, content: bytes, seen: str, *, actor: str = ""
) -> Operation | None:
    """Write a file that is as it was `seen` (its object id, empty for no file); None where it has that
    content already. Raises Changed, Refused."""

    def work(place: _Place, path: str) -> Operation | None:
        now = _read(place.root, path)
        if (object_id(now.content) if now else "") != seen:
            raise Changed(gettext("The file has been changed on the disk since you opened it."))
        wanted = FileState(content, now.mode if now else NEW_FILE)
        return place.carry_out("save", [plan_write(place.root, path, now, wanted)], actor)

    return await _in_root(session, work, path)


async def rewrite(
    session: Session, contents: Mapping[str, tuple[bytes, str]], *, act: Act = "rename", actor: str = ""
) -> Operation | None:
    """Several files at once, each by its path: the content, and what it was made of (its object id). Raises
    Changed where one is no longer that, having written none; Refused."""

    def work(roots: Roots) -> Operation | None:
        plans = []
        for path, (content, seen) in contents.items():
            root, inner = roots.at(path)
            now = _required(root, inner)
            if object_id(now.content) != seen:
                raise Changed(gettext("%(path)s has been changed meanwhile.") % {"path": shown(path)})
            plans.append(_seen(roots, root, plan_write(root, inner, now, FileState(content, now.mode))))
        return _carry_out(session, roots, act, plans, actor)

    return await _in_roots(session, work, *contents)


async def restore(
    session: Session,
    wanted: Mapping[str, tuple[FileState | None, str]],
    *,
    act: Act = "discard",
    actor: str = "",
) -> Operation | None:
    """Make files what they are to be (None: no file), each by its path, with what it was (its object id,
    empty for no file). Raises Changed where one is no longer that, having written none; Refused."""

    def work(roots: Roots) -> Operation | None:
        plans = []
        for path, (state, seen) in wanted.items():
            root, inner = roots.at(path)
            now = _read(root, inner)
            if (object_id(now.content) if now else "") != seen:
                raise Changed(gettext("%(path)s has been changed meanwhile.") % {"path": shown(path)})
            plans.append(_seen(roots, root, plan_write(root, inner, now, state)))
        return _carry_out(session, roots, act, plans, actor)

    return await _in_roots(session, work, *wanted)


async def make(session: Session, contents: Mapping[str, bytes], *, actor: str = "") -> Operation | None:
    """New files by their paths, none of which is there yet. Raises Refused."""

    def work(place: _Place, *paths: str) -> Operation | None:
        given = zip(paths, contents.values(), strict=True)
        plans = [_new(place.root, path, FileState(content, NEW_FILE)) for path, content in given]
        return place.carry_out("make", plans, actor)

    return await _in_root(session, work, *contents)


async def new_folder(session: Session, path: str) -> None:
    """An empty one, which no ledger knows of. Raises Refused."""

    def work(place: _Place, path: str) -> None:
        _free(place.root, path)
        _make_folders(place.root, [path])

    await _in_root(session, work, path)


async def move(session: Session, path: str, target: str, *, actor: str = "") -> Operation | None:
    """A file or a folder with all that is in it. None where it has no file in it. Raises Refused."""

    def plans(root: Tracker, below: _Folder, move: _Move) -> Iterator[FilePlan]:
        for file in below.files:
            now, there = _required(root, file), move.there(file)
            yield _new(root, there, now)
            yield plan_write(root, file, now, None, folders=below.folders, place=there)

    return await _to_another(session, "move", path, target, plans, actor)


async def copy(session: Session, path: str, target: str, *, actor: str = "") -> Operation | None:
    """The same, and what is there stays. Raises Refused."""

    def plans(root: Tracker, below: _Folder, move: _Move) -> Iterator[FilePlan]:
        for file in below.files:
            yield _new(root, move.there(file), _required(root, file))

    return await _to_another(session, "copy", path, target, plans, actor)


async def remove(session: Session, path: str, *, actor: str = "") -> Operation | None:
    """A file or a folder with all that is in it. None where it has no file in it. Raises Refused."""

    def work(place: _Place, path: str) -> Operation | None:
        root, below = place.root, _below(place.root, path)
        plans = [
            plan_write(root, file, _required(root, file), None, folders=below.folders) for file in below.files
        ]
        operation = place.carry_out("remove", plans, actor)
        _remove_folders(root, below.folders)
        return operation

    return await _in_root(session, work, path)


async def _to_another(
    session: Session,
    act: Act,
    path: str,
    target: str,
    plans: Callable[[Tracker, _Folder, _Move], Iterable[FilePlan]],
    actor: str,
) -> Operation | None:
    def work(place: _Place, path: str, target: str) -> Operation | None:
        root, move = place.root, _Move(path, target)
        if PurePosixPath(target).is_relative_to(path):
            raise Refused(gettext("A folder cannot go into itself."))
        _free(root, target)
        below = _below(root, path)
        operation = place.carry_out(act, plans(root, below, move), actor)
        _make_folders(root, map(move.there, below.folders))
        if act == "move":
            _remove_folders(root, below.folders)
        return operation

    return await _in_root(session, work, path, target)


async def _in_root(session: Session, work: Callable[..., T], *paths: str) -> T:
    """As `_in_roots` do work in the one root that paths as seen from a session lie in: it is given the place,
    and the paths from there. Raises Refused where they lie in several."""

    def there(roots: Roots) -> T:
        found = [roots.at(path) for path in paths]
        root = found[0][0]
        if any(other is not root for other, _ in found):
            raise Refused(gettext("It would go from one project to another. Do this in the terminal."))
        return work(_Place(session, roots, root), *(path for _, path in found))

    return await _in_roots(session, there, *paths)


async def _in_roots(session: Session, work: Callable[[Roots], T], *paths: str) -> T:
    """Do work on files whose paths are as seen from a session, under the locks of the project and of their
    roots. Raises Refused where nothing may be written."""
    home = await asyncio.to_thread(tracker, session.project)
    folders = await asyncio.to_thread(agents().folders, session.project, session)
    beside: dict[Path, AddedFolder] = {}
    for path in filter(os.path.isabs, paths):
        folder = holding(folders, Path(path))
        if folder is None:
            raise Refused(gettext("%(path)s leads out of the project.") % {"path": shown(path)})
        if not folder.write:
            raise Refused(
                gettext("%(name)s is a folder that was added for reading only.") % {"name": folder.name}
            )
        beside[folder.path] = folder
    try:
        others = [await root_in(path) for path in beside]
    except NoRoot as problem:
        raise Refused(str(problem)) from problem
    roots = Roots(home, others)
    return await in_turn_of([root.project_id for root in roots.every], work, roots)


def _seen(roots: Roots, root: Tracker, plan: FilePlan) -> FilePlan:
    return replace(plan, path=roots.seen(root, plan.path))


def _carry_out(
    session: Session, roots: Roots, act: Act, plans: list[FilePlan], actor: str
) -> Operation | None:
    """Raises Refused where a file could not be written; what could be stays and is in the log."""
    if not any(plan.outcome in WRITES for plan in plans):
        return None
    intents = as_intents(plans, roots)
    for change in intents:
        change.session_id = session.id
    noted: dict[str, Any] = {
        "outcome": as_outcome(plans),
        "scope": {"kind": "hand", "act": act},
        "actor": actor,
    }
    operation = carry_out(session, Kind.EDIT, roots, intents, **noted)
    failed = [entry for entry in operation.outcome if entry["outcome"] not in (*WRITES, "already")]
    if failed:
        raise Refused(f"{failed[0]['path']}: {failed[0]['reason']}", operation.outcome)
    return operation


def plan_write(
    project: Tracker,
    path: str,
    now: FileState | None,
    wanted: FileState | None,
    *,
    folders: Iterable[str] = (),
    place: str = "",
) -> FilePlan:
    """What makes of a file what is wanted; both contents are kept. `place` is where it goes to."""
    before = project.objects.put(now.content) if now else None
    after = project.objects.put(wanted.content) if wanted else None
    same = now is not None and wanted is not None and before == after and now.mode == wanted.mode
    return FilePlan(
        path,
        "already" if same else "restore",
        before_now=before,
        mode_now=now.mode if now else None,
        result=after,
        mode=wanted.mode if wanted else None,
        **_counts(now, wanted),
        folders=tuple(folders),
        places=((before, place),) if place and before else (),
    )


def _counts(now: FileState | None, wanted: FileState | None) -> dict[str, Any]:
    old, new = now.content if now else b"", wanted.content if wanted else b""
    if is_binary(old) or is_binary(new):
        return {}
    additions, deletions = count(old, new)
    return {"additions": additions, "deletions": deletions}


def _new(project: Tracker, path: str, wanted: FileState) -> FilePlan:
    _free(project, path)
    return plan_write(project, path, None, wanted)


def _read(project: Tracker, path: str) -> FileState | None:
    try:
        return read_file(project.worktree, path)
    except UnsafePath as error:
        raise Refused(
            gettext("%(path)s cannot be written: %(error)s.") % {"path": shown(path), "error": error}
        ) from error
    except OSError as error:
        raise Refused(
            gettext("%(path)s cannot be read: %(strerror)s.")
            % {"path": shown(path), "strerror": error.strerror}
        ) from error


def _required(project: Tracker, path: str) -> FileState:
    now = _read(project, path)
    if now is None:
        raise Refused(gettext("There is no %(path)s any more.") % {"path": shown(path)})
    return now


def _free(project: Tracker, path: str) -> None:
    """Raises Refused where something is."""
    if os.path.lexists(project.worktree / path):
        raise Refused(gettext("There is a %(path)s already.") % {"path": shown(path)})
    _read(project, path)  # a name or a place that no file may have


def _below(project: Tracker, path: str) -> _Folder:
    """Raises Refused where it is nothing, or too much to be kept."""
    if not is_safe(path):
        raise Refused(gettext("%(value)s leads out of the project.") % {"value": shown(path) or "This"})
    top = project.worktree / path
    if not top.is_dir() or top.is_symlink():
        _required(project, path)
        return _Folder([path], [])
    found = _Folder([], [])
    size = 0
    for folder, folders, names in os.walk(top, onerror=_unreadable):
        if ".git" in (*folders, *names):
            raise Refused(
                gettext("%(path)s has a git repository in it. Do this in the terminal.")
                % {"path": shown(path)}
            )
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        at = Path(folder).relative_to(project.worktree)
        found.folders.insert(0, str(at))
        found.files.extend(str(at / name) for name in sorted([*names, *links]))
        size += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
        if len(found.files) > MOST_FILES or size > MOST_BYTES:
            raise Refused(
                gettext(
                    "%(path)s has more in it than can be kept to be taken back "
                    "(%(most_files)s files, %(value)s MB). Do this in the terminal."
                )
                % {"path": shown(path), "most_files": MOST_FILES, "value": MOST_BYTES // 1024 // 1024}
            )
    return found


def _unreadable(error: OSError) -> None:
    raise Refused(
        gettext("%(filename)s cannot be read: %(strerror)s.")
        % {"filename": error.filename, "strerror": error.strerror}
    ) from error


def _make_folders(project: Tracker, folders: Iterable[str]) -> None:
    for folder in folders:
        try:
            make_folder(project.worktree, folder)
        except (UnsafePath, OSError) as error:
            raise Refused(
                gettext("The folder %(folder)s cannot be made: %(error)s")
                % {"folder": shown(folder), "error": error}
            ) from error


def _remove_folders(project: Tracker, folders: Iterable[str]) -> None:
    for folder in folders:
        remove_empty_folder(project.worktree, folder)
