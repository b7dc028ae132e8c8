"""Projects: one row a folder, recognised again when a git repository moved (docs/decisions)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction

from sessions.core.ids import now, of_folder
from sessions.core.models import Message, Project, Session
from sessions.core.models.ledger import shown
from sessions.core.prepared import Prepared, Update
from sessions.core.repository import Repository
from sessions.core.wire.project import ProjectChange

from . import events
from .rows import worktree_of


def open_project(directory: Path) -> Project:
    """The project of a folder, created or updated; raises OSError when the folder cannot be read."""
    repository = Repository.of(directory)
    worktree = str(repository.worktree)
    root_commit = repository.root_commit()
    with transaction.atomic():
        project = Project.objects.filter(worktree=worktree).first() or _moved(repository, root_commit)
        is_new = project is None
        if project is None:
            project = _new(repository)
        elif project.worktree != worktree:
            _take_along(project, repository.worktree)
            repository.link_again([Path(row.worktree) for row in project.worktrees.all()])
        project.worktree = worktree
        project.name = project.name or repository.worktree.name
        project.vcs = _vcs(repository)
        project.root_commit = root_commit or project.root_commit
        project.time_updated = now()
        project.save(force_insert=is_new)
        worktree_of.cache_clear()
    return project


def project_of(directory: Path, *, look: bool = False) -> Project:
    """The project of a folder, opened only when it is new or has become a repository since; with `look` it is
    not opened: a folder that nobody opened gives a row that is not saved.

    Raises OSError as `open_project` does. Every request of the API asks, so git is not.
    """
    repository = Repository.of(directory)
    known = _OF_FOLDER.first(str(repository.worktree), _vcs(repository))
    return known or (_new(repository) if look else open_project(directory))


_OF_FOLDER = Prepared(
    lambda worktree, vcs: Project.objects.filter(worktree=worktree, vcs=vcs).order_by("pk")[:1]
)


def _new(repository: Repository) -> Project:
    """A row for a folder, not saved."""
    worktree = str(repository.worktree)
    moment = now()
    return Project(
        id=free_id(worktree),
        worktree=worktree,
        name=repository.worktree.name,
        vcs=_vcs(repository),
        time_created=moment,
        time_updated=moment,
    )


def free_id(worktree: str) -> str:
    """The id of a new project in a folder: of its path, and where a project that was moved away has that one,
    of its path and a number. A row is never another folder's."""
    number = 0
    while True:
        found = of_folder(worktree, number)
        if not Project.objects.filter(id=found).exclude(worktree=worktree).exists():
            return found
        number += 1


def _vcs(repository: Repository) -> str:
    return "git" if repository.is_git else ""


def worktree_row(original: Project, folder: Path, branch: str) -> Project:
    """The project of a git worktree made from another's, not saved yet."""
    return Project(
        id=of_folder(str(folder)),
        worktree=str(folder),
        name=f"{original.name} ({branch})",
        vcs="git",
        root_commit=original.root_commit,
        worktree_of=original,
        time_created=now(),
        time_updated=now(),
    )


def add_worktree(row: Project) -> None:
    """Save what `worktree_row` made, and tell of it."""
    with transaction.atomic():
        row.save(force_insert=True)
        if row.worktree_of is not None:
            updated(row.worktree_of)


def worktree_names(original: Project) -> set[str]:
    """The names of the folders that worktrees of a project have or had."""
    rows = Project.objects.filter(worktree_of=original).values_list("worktree", flat=True)
    return {Path(folder).name for folder in rows}


def worktree_at(original: Project, folder: str) -> Project | None:
    """The worktree in a folder, if it was made from that project."""
    return Project.objects.filter(worktree_of=original, worktree=folder).first()


def is_busy(project: Project) -> bool:
    """Whether a turn runs in one of its sessions."""
    return Session.objects.filter(project=project, time_deleted=None).exclude(lease_owner="").exists()


def known_at(folder: str) -> bool:
    """Whether a folder is a project's."""
    return Project.objects.filter(worktree=folder).exists()


def at(folder: Path) -> Project | None:
    """The project whose worktree a folder is."""
    return Project.objects.filter(worktree=str(folder)).first()


def _moved(repository: Repository, root_commit: str) -> Project | None:
    """The project this repository was before somebody moved its folder.

    Only when that folder is gone and the one that held it is not: two clones side by side share a root commit
    and stay two projects, and of a drive that is not mounted nothing is known. A git worktree has the root
    commit of its repository and is neither taken for that one's move nor it for its.
    """
    if not root_commit or repository.is_linked():
        return None
    known = Project.objects.filter(root_commit=root_commit, worktree_of=None)
    for project in known.order_by("-time_updated"):
        place = Path(project.worktree)
        if not place.exists() and place.parent.exists():
            return project
    return None


def _take_along(project: Project, folder: Path) -> None:
    """The sessions of a project that is in another folder now: they work there."""
    rows = list(Session.objects.filter(project=project).only("id", "directory"))
    inside = [row for row in rows if Path(row.directory).is_relative_to(project.worktree)]
    for row in inside:
        row.directory = str(folder / Path(row.directory).relative_to(project.worktree))
        events.moved(row.id, row.directory)
    Session.objects.bulk_update(inside, ["directory"], batch_size=500)


def recent(limit: int = 20) -> list[Project]:
    """The projects used last, without worktrees that were removed."""
    rows = Project.objects.select_related("worktree_of").order_by("-time_updated")
    there = (row for row in rows.iterator() if row.worktree_of_id is None or Path(row.worktree).is_dir())
    return list(islice(there, limit))


def get(project_id: str) -> Project | None:
    return _GET.first(project_id)


_GET = Prepared(lambda project_id: Project.objects.filter(id=project_id))


def listed() -> list[Project]:
    """All projects that are there, those opened first before others."""
    rows = Project.objects.prefetch_related("worktrees").order_by("time_created", "id")
    return [row for row in rows if row.worktree_of_id is None or Path(row.worktree).is_dir()]


def used(project: Project, moment: int) -> None:
    """It was worked in (ms)."""
    project.time_updated = moment
    _used.put(project, "time_updated")


_used = Update(Project)


def went_on(project: Project, time: int) -> bool:
    """Whether something was said in it after a moment (ms)."""
    return Message.objects.filter(session__project=project, time_created__gt=time).exists()


def wire(project: Project) -> dict[str, Any]:
    """The wire object (`ProjectInfo`) of a row."""
    data = {
        "id": project.id,
        "worktree": project.worktree,
        "vcs": project.vcs,
        "name": project.name,
        "icon": project.icon,
        "commands": project.commands,
        "time": {"created": project.time_created, "updated": project.time_updated},
    }
    return {name: value for name, value in data.items() if value} | {"sandboxes": sandboxes(project)}


def sandboxes(project: Project) -> list[str]:
    """The folders of the worktrees made from a project."""
    if project._state.adding:  # not a row yet
        return []
    return [row.worktree for row in project.worktrees.all() if Path(row.worktree).is_dir()]


def change(project: Project, given: ProjectChange) -> None:
    """Set what is named, of icon and commands each by itself, and tell."""
    wanted = given.wire()
    with transaction.atomic():
        project.name = wanted.get("name", project.name)
        project.icon = project.icon | wanted.get("icon", {})
        project.commands = project.commands | wanted.get("commands", {})
        project.time_updated = now()
        project.save(update_fields=["name", "icon", "commands", "time_updated"])
        updated(project)


def updated(project: Project) -> None:
    """Tell that a project or its worktrees are not what they were."""
    with transaction.atomic():
        events.record("project.updated", wire(project), project=project.id)


def file_changed(project: Project, path: str, event: str) -> None:
    """Tell that a file came (`add`), went (`unlink`) or has another content (`change`); inside `atomic`."""
    file = shown(f"{project.worktree}/{path}")
    events.record("file.watcher.updated", {"file": file, "event": event}, project=project.id)


def keep_ignored(project_id: str) -> int | None:
    """Megabytes of files that git ignores, which are kept for undo; None where nothing was chosen."""
    return Project.objects.filter(id=project_id).values_list("keep_ignored", flat=True).first()


def choose_keep_ignored(project_id: str, megabytes: int | None) -> None:
    Project.objects.filter(id=project_id).update(keep_ignored=megabytes)
