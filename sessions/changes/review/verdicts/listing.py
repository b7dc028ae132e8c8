"""The files of a scope: what the scope did to each, whether that is still there, who has changed it since."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sessions.changes.checkout_git import GitError, git, not_ignored, unfiltered
from sessions.changes.review.verdicts import presence
from sessions.changes.review.verdicts.presence import Presence
from sessions.changes.review.verdicts.renames import Renamed, renames
from sessions.changes.review.verdicts.scopes import Scope, entries, staged
from sessions.changes.snapshots.changes import MOVED_IN, SIZE_LIMIT, TOO_LARGE, Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.changes.snapshots.project import find_project_git
from sessions.changes.tracking import Tracker, as_change, tracker
from sessions.changes.undo.files import AS_NEW, UnsafePath, read_file
from sessions.changes.undo.plan import net_steps
from sessions.core.db import in_db_sync
from sessions.core.models import FileChange, Session
from sessions.core.models.ledger import pack_path
from sessions.core.store import ledger, operations, problems
from sessions.core.store.ledger import Later
from sessions.core.store.problems import Known, Place

Status = Literal["added", "deleted", "modified", "renamed"]


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One file of a scope.

    `key` is its path for URLs and picks. `steps` are what the scope did to it, normally one; several where
    somebody else's lines between them could not be told apart. `whole` is what a verdict on the whole file
    takes back: of a renamed file both its paths. `additions` and `deletions` count what is still there,
    `mark` names the content for marks, `note` says why there is nothing to compare. `owner` is the last
    ledger entry it comes from.
    """

    path: str
    key: str
    steps: tuple[Change, ...]
    whole: tuple[Change, ...]
    status: Status
    state: Presence
    others: tuple[str, ...] = ()
    additions: int = 0
    deletions: int = 0
    mark: str = ""
    note: str = ""
    renamed_from: str = ""
    owner: FileChange | None = None

    @property
    def places(self) -> list[Place]:
        """Both contents of every step."""
        pairs = [
            place
            for step in self.steps
            for place in ((self.renamed_from or step.path, step.before), (step.path, step.after))
        ]
        return [(path, content) for path, content in pairs if content]


@dataclass(frozen=True, slots=True)
class Listing:
    """`problem` says why changes of commands are not among `files`, if so. `undone` has the operation that
    took back a hunk, by file and hunk key (an empty one: the whole file). `problems` is what language
    servers say of the contents before and after.
    """

    scope: Scope
    files: tuple[ReviewedFile, ...]
    project: Tracker
    problem: str | None = None
    undone: Mapping[tuple[str, str], str] = field(default_factory=dict)
    problems: Mapping[Place, Known] = field(default_factory=dict)

    def file(self, key: str) -> ReviewedFile | None:
        return next((file for file in self.files if file.key == key), None)


async def listing(session: Session, scope: Scope, only: Container[str] | None = None) -> Listing:
    """What a scope shows, by path; with `only`, the files of these keys. Reads each file, writes none."""
    return await asyncio.to_thread(read_listing, session, scope, only)


def read_listing(session: Session, scope: Scope, only: Container[str] | None = None) -> Listing:
    """The same for who is in a thread."""
    project = tracker(session.project)
    problem, made = project.problem, None
    if scope.kind == "git":
        made, problem = working_tree(project)
    changes, owners, later, undone = in_db_sync(_rows, session, scope, made)
    files = _files(scope, project, changes, owners, later, only)
    places = [place for file in files for place in file.places]
    known = in_db_sync(problems.of_contents, session.project_id, places)
    return Listing(scope, tuple(files), project, problem, undone, known)


def _rows(
    session: Session, scope: Scope, made: Sequence[Change] | None
) -> tuple[Sequence[Change], dict[str, FileChange], dict[str, Later], dict[tuple[str, str], str]]:
    """The changes of a scope (`made`, if they are not in the rows), the last entry of each file, who has
    changed it later, and which operations took back hunks."""
    owners: dict[str, FileChange] = {}
    if made is not None:
        changes = made
    elif scope.kind == "staged":
        changes = staged(session)
    else:
        rows = entries(session, scope)
        owners = {row.path: row for row in rows}
        changes = [as_change(row) for row in rows]
    later = ledger.later(session.project_id, _last_ids(changes, owners))
    undone = operations.undone_hunks(session.project_id, [change.path for change in changes])
    return changes, owners, later, undone


def _last_ids(changes: Iterable[Change], owners: Mapping[str, FileChange]) -> dict[str, int]:
    return {change.path: owners[change.path].pk if change.path in owners else 0 for change in changes}


def _files(
    scope: Scope,
    project: Tracker,
    changes: Sequence[Change],
    owners: Mapping[str, FileChange],
    later: Mapping[str, Later],
    only: Container[str] | None,
) -> list[ReviewedFile]:
    by_path: dict[str, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    steps = {path: net_steps(by_path[path], project.objects) for path in sorted(by_path)}
    moved = renames(steps, project.objects)
    gone = {rename.source for rename in moved.values()}
    return [
        _file(scope, project, path, own, moved.get(path), owners.get(path), later.get(path))
        for path, own in steps.items()
        if own and path not in gone and (only is None or pack_path(path) in only)
    ]


def _file(
    scope: Scope,
    project: Tracker,
    path: str,
    own: tuple[Change, ...],
    rename: Renamed | None,
    owner: FileChange | None,
    later: Later | None,
) -> ReviewedFile:
    steps = (rename.change,) if rename else own
    found = presence.found(path, steps, project, staged=scope.kind == "staged")
    if rename and found.state == "missing":  # at its old place again
        found = presence.found(path, own, project)
    return ReviewedFile(
        path=path,
        key=pack_path(path),
        steps=steps,
        whole=(*rename.whole, *own) if rename else own,
        status="renamed" if rename else _status(steps),
        state=found.state,
        others=_others(later, found.now) if owner else (),
        additions=found.additions,
        deletions=found.deletions,
        mark=_mark(steps),
        note=next((step.skipped for step in steps if step.skipped), ""),
        renamed_from=rename.source if rename else "",
        owner=owner,
    )


def _status(steps: Sequence[Change]) -> Status:
    first, last = steps[0], steps[-1]
    if first.before is None and first.skipped in (None, MOVED_IN):
        return "added"
    return "deleted" if last.after is None and not last.skipped else "modified"


def _others(later: Later | None, now: str | None) -> tuple[str, ...]:
    if later is None:
        return ()
    outside = now != later.content and not later.skipped
    return (*later.names, "somebody outside of this app") if outside else later.names


def _mark(steps: Sequence[Change]) -> str:
    return "-".join(f"{(step.before or '')[:12]}.{(step.after or '')[:12]}" for step in steps)[:64]


MOST_UNTRACKED = 2000
_COMPARE = ("diff-index", "--raw", "-z", "--no-renames", "--relative", "--ignore-submodules=all")
_SUBMODULE = 0o160000


def working_tree(project: Tracker) -> tuple[list[Change], str | None]:
    """What `git diff HEAD` and new files amount to, and why it is not known, if so. The user's repository and
    index are read only; contents of files on the disk are put into our store."""
    try:
        head = _git(project, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except GitError:
        return [], "This folder has no git commit to compare with."
    try:
        raw = _git(project, *_COMPARE, head)
        names = not_ignored(project.worktree)
    except GitError as error:
        return [], f"git could not be asked: {error}"
    _borrow(raw, project)
    untracked = (_against(project, name, None, None) for name in names[:MOST_UNTRACKED])
    found = [*_tracked(raw, project), *untracked]
    left = len(names) - MOST_UNTRACKED
    return [
        change for change in found if change
    ], f"{left} more new files are left out." if left > 0 else None


def _borrow(raw: bytes, project: Tracker) -> None:
    """Make the committed contents of what has changed our own, in one go."""
    project.objects.borrow(find_project_git(project.worktree).objects)
    before = {described.split()[2].decode() for described in raw.split(b"\0")[:-1:2]}
    project.objects.own(before - {"0" * 40})


def _tracked(raw: bytes, project: Tracker) -> Iterator[Change | None]:
    """Read the raw output format of git-diff-index(1)."""
    fields = raw.split(b"\0")[:-1]
    for described, path in zip(fields[::2], fields[1::2], strict=True):
        mode, mode_now, before, _, _ = described.decode().removeprefix(":").split()
        if _SUBMODULE not in (int(mode, 8), int(mode_now, 8)):
            yield _against(
                project, os.fsdecode(path), before, int(mode, 8) | AS_NEW if int(mode, 8) else None
            )


def _against(project: Tracker, path: str, before: str | None, mode: int | None) -> Change | None:
    """One file against its content in git; None when they are the same after all."""
    try:
        now = read_file(project.worktree, path)
    except (OSError, UnsafePath):
        return None
    before = before if mode else None
    if now is None:
        return Change(path, before, None, mode, None) if before else None
    if len(now.content) > SIZE_LIMIT:
        return Change(path, None, None, skipped=TOO_LARGE)
    after = object_id(now.content)
    if before:
        before = _as_checked_out(project.objects, before, now.content)
    if before == after and mode is not None and (mode ^ now.mode) & 0o100 == 0:
        return None
    return Change(path, before, project.objects.put(now.content), mode, now.mode)


def _as_checked_out(objects: ObjectStore, oid: str, now: bytes) -> str:
    """git may keep a file with other line ends than it checks out (core.autocrlf, gitattributes(5))."""
    try:
        kept = objects.get(oid)
    except ObjectMissing:
        return oid
    converted = b"\r\n" in now and b"\r" not in kept and b"\n" not in now.replace(b"\r\n", b"")
    return objects.put(kept.replace(b"\n", b"\r\n")) if converted else oid


def _git(project: Tracker, *arguments: str) -> bytes:
    """The repository may be anybody's: nothing that its configuration names is run."""
    return git(project.worktree, *arguments, settings=unfiltered(project.worktree))
