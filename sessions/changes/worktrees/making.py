"""Make a git worktree with the files of a project as they are now, less what is to be taken back in it.

Files are copied as bytes and git checks nothing out: so no filter or hook runs, and line endings and large
files are what they are in the project. The user's index and working tree are only read. All functions block.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext

from sessions.changes.checkout_git import GitError, git, listed, not_ignored, words
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import FilePlan, plan_undo
from sessions.changes.worktrees.notes import Entry, Note, Place, note_of

_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Made:
    """A worktree that is whole, to be recorded and then `note.close()`d, or `note.discard()`ed.

    `plan` says what became of each file that the session had changed after the point.
    """

    folder: Path
    branch: str
    plan: tuple[FilePlan, ...]
    left_out: tuple[str, ...]
    note: Note


def make(project_id: str, top: Path, title: str, changes: Sequence[Change], objects: ObjectStore) -> Made:
    """A new worktree on a branch of its own, with `changes` (oldest first) taken back. Raises CannotFork, and
    leaves nothing behind then."""
    source = look(top)
    home = home_of(project_id)
    check_room(home, source)
    note = begin(source.top, source.commit, home, f"{slug_of(title)}-{secrets.token_hex(3)}")
    with whole_or_nothing(note):
        return _fill(source, note, changes, objects)


@contextmanager
def whole_or_nothing(note: Note) -> Iterator[None]:
    """What fails in between is taken away again. Raises CannotFork for what git and the disk refuse."""
    try:
        yield
    except BaseException as error:
        note.discard()
        if isinstance(error, GitError):
            raise CannotFork(gettext("git made no worktree: %(error)s") % {"error": words(error)}) from error
        if isinstance(error, OSError):
            raise CannotFork(
                gettext("The worktree could not be written: %(value)s.") % {"value": error.strerror or error}
            ) from error
        raise


def home_of(project_id: str) -> Path:
    """Where the worktrees of a project are; the folder is made. Raises CannotFork."""
    home = Path(settings.WORKTREE_DIR) / project_id
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotFork(
            gettext("The folder for worktrees cannot be used: %(strerror)s.") % {"strerror": error.strerror}
        ) from error
    return home


def check_room(home: Path, source: Source) -> None:
    """Raises CannotFork where the files of a source do not fit."""
    free = shutil.disk_usage(home).free
    if free < source.size:
        need, there = (f"{size / 1_000_000:,.0f} MB" for size in (source.size, free))
        raise CannotFork(
            gettext("There is not enough room: the files take %(need)s, and %(there)s are free.")
            % {"need": need, "there": there}
        )


def begin(top: Path, commit: str, home: Path, slug: str, unstage: Sequence[Entry] = ()) -> Note:
    """Note what is going to be made, before anything of it is there, and what is no longer staged at `top`
    once it is. Raises CannotFork."""
    folder = home / slug
    making = str(home / f".making-{slug}")
    place = Place(str(top), commit, f"opencode/{slug}", making, str(folder), tuple(unstage))
    try:
        if folder.exists():
            raise FileExistsError(folder)
        return Note(note_of(folder), place)
    except FileExistsError as error:
        raise CannotFork(
            gettext("There is a folder %(name)s already. Try again.") % {"name": folder.name}
        ) from error
    except OSError as error:
        raise CannotFork(
            gettext("The folder for worktrees cannot be written: %(strerror)s.")
            % {"strerror": error.strerror}
        ) from error


def slug_of(title: str) -> str:
    """A title as a name for a folder and a branch: small letters, digits, hyphens, at most 32."""
    return _NOT_IN_SLUG.sub("-", title.lower())[:32].strip("-") or "fork"


def _fill(source: Source, note: Note, changes: Sequence[Change], objects: ObjectStore) -> Made:
    place = note.place
    making, folder = Path(place.making), Path(place.folder)
    git(source.top, "worktree", "add", "--no-checkout", "-b", place.branch, place.making, place.commit)
    git(making, "read-tree", "HEAD")
    for name in source.files:
        copy_file(source.top / name, making / name)
    plan = plan_undo(changes, objects, making)
    failed = {file.path: file for file in apply(plan, making, objects).failed}
    git(source.top, "worktree", "move", place.making, place.folder)
    settled = tuple(failed.get(file.path, file) for file in plan)
    return Made(folder, place.branch, settled, source.left_out, note)


def copy_file(source: Path, target: Path) -> None:
    """A link stays a link; a file that went away meanwhile is left out."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if source.is_symlink():
            os.symlink(os.readlink(source), target)
        else:
            shutil.copyfile(source, target, follow_symlinks=False)
            shutil.copymode(source, target)
    except FileNotFoundError:
        target.unlink(missing_ok=True)


_SUBMODULE = "160000"


class CannotFork(Exception):
    """No worktree can be made; the text is for the person who asked."""


@dataclass(frozen=True, slots=True)
class Source:
    """`commit` is HEAD; `files` are the tracked and untracked files that are there and not ignored, relative
    to `top`, `size` their bytes; `left_out` are folders that are repositories of their own."""

    top: Path
    commit: str
    files: tuple[str, ...]
    size: int
    left_out: tuple[str, ...]


def look(top: Path) -> Source:
    """Reads only. Raises CannotFork with the reason."""
    commit = head(top)
    try:
        tracked = _tracked(top)
        untracked = not_ignored(top)
    except GitError as error:
        raise CannotFork(
            gettext("git cannot list the files of this repository: %(error)s") % {"error": words(error)}
        ) from error
    nested = tuple(name for name in untracked if name.endswith("/"))
    found = sizes(top.resolve(), {*tracked, *untracked} - {*nested})
    return Source(top, commit, tuple(sorted(found)), sum(found.values()), nested)


def head(top: Path) -> str:
    """The last commit. Raises CannotFork where there is none, or no repository."""
    if not (top / ".git").exists():
        raise CannotFork(
            gettext("This project is no git repository, and only a repository can have worktrees.")
        )
    try:
        return git(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
    except GitError as error:
        if "fatal:" in str(error):
            raise CannotFork(
                gettext("git does not accept this repository: %(error)s") % {"error": words(error)}
            ) from error
        raise CannotFork(
            gettext("This repository has no commit yet, and a worktree begins with one.")
        ) from error


def _tracked(top: Path) -> list[str]:
    names = []
    for entry in listed(git(top, "ls-files", "--cached", "--stage", "-v", "-z")):
        described, _, name = entry.partition("\t")
        tag, mode, *_ = described.split()
        if mode == _SUBMODULE:
            raise CannotFork(
                gettext("This repository has submodules, which git does not keep apart in worktrees.")
            )
        if tag in "Ss":
            raise CannotFork(gettext("This repository has a sparse checkout: its files are not all at hand."))
        names.append(name)
    return names


def sizes(top: Path, names: set[str]) -> dict[str, int]:
    """Bytes of each that is a file or a link of the working tree: not gone, no folder, not beyond a link."""
    folders = {name.rpartition("/")[0] for name in names}
    plain = {folder for folder in folders if (top / folder).resolve() == top / folder}
    found = {}
    for name in names:
        if name.rpartition("/")[0] not in plain:
            continue
        with suppress(OSError):
            seen = (top / name).lstat()
            if stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode):
                found[name] = seen.st_size
    return found
