"""The files of a scope: what the scope did to each, whether that is still there, who has changed it since."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sessions.db import in_db
from sessions.models import FileChange, Session
from sessions.models.ledger import pack_path
from sessions.review.outcomes import as_change
from sessions.review.verdicts import git, presence
from sessions.review.verdicts.presence import Presence
from sessions.review.verdicts.renames import Renamed, renames
from sessions.review.verdicts.scopes import Scope, entries, staged
from sessions.snapshots.changes import Change
from sessions.store import operations, problems
from sessions.store.operations import Later
from sessions.store.problems import Known, Place
from sessions.tracking import Tracker, tracker
from sessions.undo.steps import net_steps

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
    project = await asyncio.to_thread(tracker, session.project)
    owners: dict[str, FileChange] = {}
    problem = project.problem
    if scope.kind == "git":
        changes, problem = await asyncio.to_thread(git.working_tree, project)
    elif scope.kind == "staged":
        changes = await in_db(staged, session)
    else:
        rows = await in_db(entries, session, scope)
        owners = {row.path: row for row in rows}
        changes = [as_change(row) for row in rows]
    later = await in_db(operations.later, session.project_id, _last_ids(changes, owners))
    undone = await in_db(operations.undone_hunks, session.project_id, [change.path for change in changes])
    files = await asyncio.to_thread(_files, scope, project, changes, owners, later, only)
    places = [place for file in files for place in file.places]
    known = await in_db(problems.of_contents, session.project_id, places)
    return Listing(scope, tuple(files), project, problem, undone, known)


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
    if first.before is None and not first.skipped:
        return "added"
    return "deleted" if last.after is None and not last.skipped else "modified"


def _others(later: Later | None, now: str | None) -> tuple[str, ...]:
    if later is None:
        return ()
    outside = now != later.content and not later.skipped
    return (*later.names, "somebody outside of this app") if outside else later.names


def _mark(steps: Sequence[Change]) -> str:
    return "-".join(f"{(step.before or '')[:12]}.{(step.after or '')[:12]}" for step in steps)[:64]
