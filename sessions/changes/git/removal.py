"""What a click takes out of git, a branch, a tag or what was put aside, and bringing it back: each is an
entry of the operations log, without files. Its commits are there for as long as git keeps what nothing refers
to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.git import branches, stash, tags
from sessions.changes.git.command import Git, GitError
from sessions.changes.operations.inverse import Inverse
from sessions.changes.operations.lock import Refused
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.repository import Repository
from sessions.core.store import operations
from sessions.core.store.operations import Kind, State

_Act = Callable[[Git, str, str], str]
_ACTS: Mapping[str, tuple[_Act, str, str]] = {
    "delete-branch": (
        lambda git, name, commit: branches.delete(git, f"{branches.HEADS}{name}", commit),
        "restore-branch",
        gettext_noop("The branch {name} comes back, at {commit:.10}."),
    ),
    "restore-branch": (
        lambda git, name, commit: branches.create(git, name, at=commit, stay=True),
        "delete-branch",
        gettext_noop("The branch {name} is deleted again."),
    ),
    "delete-tag": (
        lambda git, name, commit: tags.delete(git, f"{tags.TAGS}{name}", commit),
        "restore-tag",
        gettext_noop("The tag {name} comes back, of {commit:.10}."),
    ),
    "restore-tag": (
        lambda git, name, commit: tags.restore(git, f"{tags.TAGS}{name}", commit),
        "delete-tag",
        gettext_noop("The tag {name} is deleted again."),
    ),
    "drop-stash": (
        lambda git, _, commit: stash.drop(git, commit),
        "restore-stash",
        gettext_noop("“{name}” is put aside once more."),
    ),
    "restore-stash": (
        lambda git, name, commit: stash.store(git, commit, name),
        "drop-stash",
        gettext_noop("“{name}” is dropped again."),
    ),
}
"""By what an operation has as its act: doing it, the act that takes it back, and in words what that does."""


def carry_out(git: Git, act: str, name: str, commit: str) -> str:
    """`act` with what is called `name`, as long as it is `commit`. Raises GitError."""
    return _ACTS[act][0](git, name, commit)


def note(
    session: Session, act: str, name: str, commit: str, *, actor: str = "", of: Operation | None = None
) -> Operation:
    """That it was done, by the log; `of` is what it took back."""
    scope = {"kind": "hand", "act": act, "name": name, "commit": commit}
    return operations.at_once(session, Kind.EDIT, outcome=[], scope=scope, actor=actor, of=of)


def is_one(operation: Operation) -> bool:
    """Whether an operation is of this kind."""
    return operation.kind == Kind.EDIT and operation.scope.get("act") in _ACTS


async def preview_operation(operation: Operation) -> Inverse:
    """What taking it back would do."""
    return Inverse([], gettext(_ACTS[operation.scope["act"]][2]).format(**operation.scope))


async def invert_operation(operation: Operation, actor: str) -> Operation:
    """Take it back. Raises Refused."""
    if operation.state != State.DONE:
        raise Refused(gettext("This was taken back already."))
    session, scope = operation.session, operation.scope
    back = _ACTS[scope["act"]][1]
    try:
        await asyncio.to_thread(_in_folder, session.directory, back, scope["name"], scope["commit"])
    except (GitError, OSError) as problem:
        raise Refused(str(problem)) from problem
    return await in_db(lambda: note(session, back, scope["name"], scope["commit"], actor=actor, of=operation))


def _in_folder(directory: str, act: str, name: str, commit: str) -> None:
    """Nothing that the repository brings along runs."""
    carry_out(Git(Repository.of(Path(directory)).worktree), act, name, commit)
