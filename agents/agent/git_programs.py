"""Whether what a repository brings along for git to run is trusted: hooks, and programs that its
configuration names (docs/decisions/0007-trust.md, 0051-git-panel.md)."""

from __future__ import annotations

import threading
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.config.trust.store import TrustStore, digest
from agents.config.trust.wants import MAX_DETAIL, Content, Want, Wish
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.programs import Program, Programs
from sessions.core.repository import Repository

_lock = threading.Lock()
_used: set[Path] = set()
"""Working trees whose git panel was opened: before that nothing of it is asked."""


def git_of(directory: Path) -> Git:
    """git for a person around a folder. Reads files; raises GitError where there is no repository."""
    try:
        repository = Repository.of(directory)
    except OSError as error:
        raise GitError(gettext("The folder of the project cannot be read.")) from error
    if not repository.is_git:
        raise GitError(gettext("This folder is in no git repository."))
    with _lock:
        _used.add(repository.worktree)
    return Git(repository.worktree, trusted=lambda found: _holds(repository.worktree, found))


def wants(directory: Path) -> list[Want]:
    """What git would run of a repository whose panel was opened. Reads files."""
    try:
        top = Repository.of(directory).worktree
    except OSError:
        return []
    with _lock:
        if top not in _used:
            return []
    try:
        found = Git(top).programs
    except GitError:
        return []
    if not found.found:
        return []
    contents = [
        Content(each.name, digest(each.content), each.content.decode("utf-8", "replace"))
        for each in found.found
    ]
    return [Want(contents, [_wish(each) for each in found.found], _holds(top, found))]


def _wish(program: Program) -> Wish:
    if program.hook:
        return Wish(
            "", gettext("Runs a hook of git, %(hook)s, when you use the git panel") % {"hook": program.hook}
        )
    detail = program.content.decode("utf-8", "replace")[:MAX_DETAIL]
    return Wish(program.name, gettext_noop("Runs a program when you use the git panel"), detail)


def _holds(top: Path, found: Programs) -> bool:
    digests = {program.name: digest(program.content) for program in found.found}
    return TrustStore(Path(settings.TRUST_FILE)).holds(top, digests)
