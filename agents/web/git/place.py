"""Which repository a request of the git panel is about, and what its page shows of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.agent.git_programs import git_of
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.commits import not_amendable
from sessions.changes.git.status import File, Status, status
from sessions.changes.review.marking import digest
from sessions.core.db import in_db
from sessions.core.models import Project, Session
from sessions.core.models.ledger import pack_path, shown, unpack_path
from sessions.web.access import find_session, project_of

T = TypeVar("T")
MOST = 300
"""Files of a list that are shown."""
TITLES = {
    "conflicts": gettext_noop("Conflicts"),
    "staged": gettext_noop("Staged"),
    "changed": gettext_noop("Changed"),
    "untracked": gettext_noop("New"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """`session` is None on a page without one."""

    project: Project
    session: Session | None

    @property
    def directory(self) -> Path:
        return Path(self.session.directory if self.session else self.project.worktree)

    def inside(self, git: Git, file: str) -> str:
        """A path as seen from the session, relative to the top of the repository. Raises GitError."""
        whole = Path(self.project.worktree) / file
        if not whole.is_relative_to(git.top):
            raise GitError(gettext("This file is not in the repository that the session works in."))
        return str(whole.relative_to(git.top))

    async def work(self, act: Callable[[Git], T]) -> T:
        """What comes of something done with git there. Raises GitError."""
        return await asyncio.to_thread(lambda: act(git_of(self.directory)))


async def place_of(request: HttpRequest, project_id: str) -> Place:
    """By `session` of the fields, else the project's own folder. Raises Http404."""
    fields: QueryDict = request.POST if request.method == "POST" else request.GET
    project = await project_of(project_id)
    wanted = fields.get("session", "")
    return Place(project, await in_db(find_session, project.id, wanted) if wanted else None)


def path_of(fields: QueryDict) -> str:
    """The file `path`, relative to the top of the repository. Raises GitError."""
    path = unpack_path(fields.get("path", ""))
    if not path or "\0" in path:
        raise GitError(gettext("No file is named."))
    return path


@dataclass(frozen=True, slots=True)
class Row:
    """One file of a list. `key` is its path for addresses, `id` names its element."""

    file: File
    side: str

    @property
    def key(self) -> str:
        return pack_path(self.file.path)

    @property
    def name(self) -> str:
        return shown(self.file.path)

    @property
    def id(self) -> str:
        return f"git-{self.side}-{digest(self.key)}"

    @property
    def whole(self) -> bool:
        """Whether it can be looked into: not a repository in this one, if it is in no conflict."""
        beside = self.file.path.endswith("/") or self.file.note.startswith("submodule")
        return self.side == "conflicts" or not beside

    @property
    def discards(self) -> bool:
        return self.whole and self.side in ("changed", "untracked")


@dataclass(frozen=True, slots=True)
class List:
    """One list of the panel; `more` counts files that are not shown."""

    side: str
    title: str
    rows: Sequence[Row]
    more: int


@dataclass(frozen=True, slots=True)
class Panel:
    """All that changes by itself. `author` is who a commit would be by, or in `nobody` why git knows none.
    `hooks` are those that do not run as they are not trusted; `submodules`: it names some."""

    status: Status
    lists: Sequence[List]
    author: str
    nobody: str
    amend: str
    hooks: Sequence[str]
    held: bool
    submodules: bool


def panel(git: Git) -> Panel:
    """Raises GitError."""
    found = status(git)
    by_side = {side: getattr(found, side) for side in TITLES}
    lists = [
        List(side, TITLES[side], [Row(file, side) for file in files[:MOST]], max(len(files) - MOST, 0))
        for side, files in by_side.items()
        if files
    ]
    author, nobody = _author(git)
    held = not git.trusted
    hooks = git.programs.hooks if held else ()
    submodules = (git.top / ".gitmodules").is_file()
    return Panel(found, lists, author, nobody, not_amendable(git), hooks, held, submodules)


def _author(git: Git) -> tuple[str, str]:
    try:
        said = git.read("var", "GIT_AUTHOR_IDENT").decode("utf-8", "replace")
    except GitError as error:
        return "", str(error)
    return said.rpartition(">")[0] + ">", ""
