"""What a person does to the files of a project: save one, make, move, copy and remove. Each act is an
operation, noted with the contents before and after, so that the log can take any of it back.

Like a verdict it needs nothing of the session: it works while the agent works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import count
from sessions.changes.operations.engine import as_intents, as_outcome, carry_out
from sessions.changes.operations.lock import Refused, in_turn
from sessions.changes.roots import Roots
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
from sessions.core.models import Operation, Session
from sessions.core.models.ledger import shown
from sessions.core.store.operations import Kind

MOST_FILES = 2000
MOST_BYTES = 256 * 1024 * 1024
"""Of all files of one act: each of them is kept, so that it can be taken back."""

Act = Literal["save", "make", "move", "copy", "remove", "rename", "replace"]


class Changed(Refused):
    """The file is not what the person saw when they began."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """What is below a path: files and, the deepest first, folders, itself among them; all relative to the
    worktree."""

    files: list[str]
    folders: list[str]


async def save(
    session: Session, path: str, content: bytes, seen: str, *, actor: str = ""
) -> Operation | None:
    """Write a file that is as it was `seen` (its object id, empty for no file); None where it has that
    content already. Raises Changed, Refused."""

    def work() -> Operation | None:
        project = tracker(session.project)
        now = _read(project, path)
        if (object_id(now.content) if now else "") != seen:
            raise Changed("The file has been changed on the disk since you opened it.")
        mode = now.mode if now else NEW_FILE
        return _carry_out(
            session, project, "save", [plan_write(project, path, now, FileState(content, mode))], actor
        )

    return await in_turn(session.project_id, work)


async def rewrite(
    session: Session, contents: Mapping[str, tuple[bytes, str]], *, act: Act = "rename", actor: str = ""
) -> Operation | None:
    """Several files at once, each by its path: the content, and what it was made of (its object id). Raises
    Changed where one is no longer that, having written none; Refused."""

    def work() -> Operation | None:
        project = tracker(session.project)
        plans = []
        for path, (content, seen) in contents.items():
            now = _required(project, path)
            if object_id(now.content) != seen:
                raise Changed(f"{shown(path)} has been changed meanwhile.")
            plans.append(plan_write(project, path, now, FileState(content, now.mode)))
        return _carry_out(session, project, act, plans, actor)

    return await in_turn(session.project_id, work)


async def make(session: Session, contents: Mapping[str, bytes], *, actor: str = "") -> Operation | None:
    """New files by their paths, none of which is there yet. Raises Refused."""

    def work() -> Operation | None:
        project = tracker(session.project)
        plans = [_new(project, path, FileState(content, NEW_FILE)) for path, content in contents.items()]
        return _carry_out(session, project, "make", plans, actor)

    return await in_turn(session.project_id, work)


async def new_folder(session: Session, path: str) -> None:
    """An empty one, which no ledger knows of. Raises Refused."""

    def work() -> None:
        project = tracker(session.project)
        _free(project, path)
        _make_folders(project, [path])

    await in_turn(session.project_id, work)


async def move(session: Session, path: str, target: str, *, actor: str = "") -> Operation | None:
    """A file or a folder with all that is in it. None where it has no file in it. Raises Refused."""

    def plans(project: Tracker, below: _Folder) -> Iterator[FilePlan]:
        for file in below.files:
            now, there = _required(project, file), _beneath(target, path, file)
            yield _new(project, there, now)
            yield plan_write(project, file, now, None, folders=below.folders, place=there)

    return await _to_another(session, "move", path, target, plans, actor)


async def copy(session: Session, path: str, target: str, *, actor: str = "") -> Operation | None:
    """The same, and what is there stays. Raises Refused."""

    def plans(project: Tracker, below: _Folder) -> Iterator[FilePlan]:
        for file in below.files:
            yield _new(project, _beneath(target, path, file), _required(project, file))

    return await _to_another(session, "copy", path, target, plans, actor)


async def remove(session: Session, path: str, *, actor: str = "") -> Operation | None:
    """A file or a folder with all that is in it. None where it has no file in it. Raises Refused."""

    def work() -> Operation | None:
        project = tracker(session.project)
        below = _below(project, path)
        plans = [
            plan_write(project, file, _required(project, file), None, folders=below.folders)
            for file in below.files
        ]
        operation = _carry_out(session, project, "remove", plans, actor)
        _remove_folders(project, below.folders)
        return operation

    return await in_turn(session.project_id, work)


async def _to_another(
    session: Session,
    act: Act,
    path: str,
    target: str,
    plans: Callable[[Tracker, _Folder], Iterable[FilePlan]],
    actor: str,
) -> Operation | None:
    def work() -> Operation | None:
        project = tracker(session.project)
        if PurePosixPath(target).is_relative_to(path):
            raise Refused("A folder cannot go into itself.")
        _free(project, target)
        below = _below(project, path)
        operation = _carry_out(session, project, act, list(plans(project, below)), actor)
        _make_folders(project, (_beneath(target, path, folder) for folder in below.folders))
        if act == "move":
            _remove_folders(project, below.folders)
        return operation

    return await in_turn(session.project_id, work)


def _carry_out(
    session: Session, project: Tracker, act: Act, plans: list[FilePlan], actor: str
) -> Operation | None:
    """Raises Refused where a file could not be written; what could be stays and is in the log."""
    if not any(plan.outcome in WRITES for plan in plans):
        return None
    intents = as_intents(plans, Roots(project))
    for change in intents:
        change.session_id = session.id
    noted: dict[str, Any] = {
        "outcome": as_outcome(plans),
        "scope": {"kind": "hand", "act": act},
        "actor": actor,
    }
    operation = carry_out(session, Kind.EDIT, Roots(project), intents, **noted)
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
        raise Refused(f"{shown(path)} cannot be written: {error}.") from error
    except OSError as error:
        raise Refused(f"{shown(path)} cannot be read: {error.strerror}.") from error


def _required(project: Tracker, path: str) -> FileState:
    now = _read(project, path)
    if now is None:
        raise Refused(f"There is no {shown(path)} any more.")
    return now


def _free(project: Tracker, path: str) -> None:
    """Raises Refused where something is."""
    if os.path.lexists(project.worktree / path):
        raise Refused(f"There is a {shown(path)} already.")
    _read(project, path)  # a name or a place that no file may have


def _below(project: Tracker, path: str) -> _Folder:
    """Raises Refused where it is nothing, or too much to be kept."""
    if not is_safe(path):
        raise Refused(f"{shown(path) or 'This'} leads out of the project.")
    top = project.worktree / path
    if not top.is_dir() or top.is_symlink():
        _required(project, path)
        return _Folder([path], [])
    found = _Folder([], [])
    size = 0
    for folder, folders, names in os.walk(top, onerror=_unreadable):
        if ".git" in (*folders, *names):
            raise Refused(f"{shown(path)} has a git repository in it. Do this in the terminal.")
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        at = Path(folder).relative_to(project.worktree)
        found.folders.insert(0, str(at))
        found.files.extend(str(at / name) for name in sorted([*names, *links]))
        size += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
        if len(found.files) > MOST_FILES or size > MOST_BYTES:
            raise Refused(
                f"{shown(path)} has more in it than can be kept to be taken back ({MOST_FILES} files, "
                f"{MOST_BYTES // 1024 // 1024} MB). Do this in the terminal."
            )
    return found


def _unreadable(error: OSError) -> None:
    raise Refused(f"{error.filename} cannot be read: {error.strerror}.") from error


def _beneath(target: str, path: str, inner: str) -> str:
    return str(PurePosixPath(target) / PurePosixPath(inner).relative_to(path))


def _make_folders(project: Tracker, folders: Iterable[str]) -> None:
    for folder in folders:
        try:
            make_folder(project.worktree, folder)
        except (UnsafePath, OSError) as error:
            raise Refused(f"The folder {shown(folder)} cannot be made: {error}") from error


def _remove_folders(project: Tracker, folders: Iterable[str]) -> None:
    for folder in folders:
        remove_empty_folder(project.worktree, folder)
