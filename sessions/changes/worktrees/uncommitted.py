"""What of a working tree is in no commit, file by file, and the staged part of it. All functions block."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.checkout_git import GitError, git, listed, unfiltered, words
from sessions.changes.worktrees.making import CannotFork, Source, look, sizes
from sessions.changes.worktrees.notes import Entry, Place
from sessions.core.models.ledger import pack_path, shown, unpack_path

logger = logging.getLogger(__name__)

_UNDER_WAY = {
    "MERGE_HEAD": "A merge",
    "rebase-merge": "A rebase",
    "rebase-apply": "A rebase",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
}
_QUIET = ("--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-z")
_STAGED = ("ls-files", "--stage", "-z")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is not as the last commit has it. `own`: the session changed it, alone or among others."""

    path: str
    own: bool
    staged: bool

    @property
    def name(self) -> str:
        return shown(self.path)


@dataclass(frozen=True)
class Uncommitted:
    """`files` are what can go elsewhere; `ignored` the session's files that git ignores; `left_out` its files
    that stay: in repositories of their own, or what a filter of the repository writes."""

    source: Source
    files: tuple[ChangedFile, ...]
    ignored: tuple[str, ...]
    left_out: tuple[str, ...]

    @cached_property
    def staged(self) -> Mapping[str, str]:
        """What the index has of each staged file, `<mode> <object>`; empty for one that is staged to go."""
        there = entries(self.source.top)
        return {file.path: there.get(file.path, "") for file in self.files if file.staged}


def uncommitted(top: Path, own: Collection[str]) -> Uncommitted:
    """Reads only; `own` are the paths that a session changed. Raises CannotFork with the reason why nothing
    can be moved."""
    source = look(top)
    try:
        _refuse_under_way(top)
        staged = set(listed(git(top, "diff", "--cached", *_QUIET, "HEAD")))
        differing = set(listed(git(top, "diff", *_QUIET, "HEAD", settings=unfiltered(top)))) | staged
        tracked = set(entries(top)) | staged
        filtered = _filtered(top, differing)
    except GitError as error:
        raise CannotFork(
            gettext("git cannot say what is in no commit: %(error)s") % {"error": words(error)}
        ) from error
    found = (differing | (set(source.files) - tracked)) - filtered
    files = tuple(ChangedFile(path, path in own, path in staged) for path in sorted(found))
    nested = [path for path in own if path.startswith(source.left_out)]
    beside = {*own} - tracked - found - filtered - {*nested}
    return Uncommitted(
        source,
        files,
        ignored=tuple(sorted(sizes(top.resolve(), beside))),
        left_out=tuple(sorted({*nested, *(path for path in filtered if path in own)})),
    )


def _refuse_under_way(top: Path) -> None:
    asked = [word for name in _UNDER_WAY for word in ("--git-path", name)]
    places = git(top, "rev-parse", *asked).decode(errors="surrogateescape").splitlines()
    for place, what in zip(places, _UNDER_WAY.values(), strict=True):
        if (top / place).exists():
            raise CannotFork(
                gettext("%(what)s is in progress in this folder. Finish it first, or abort it.")
                % {"what": what}
            )
    if git(top, "ls-files", "--unmerged", "-z"):
        raise CannotFork(
            gettext("This folder has files with conflicts that git waits for. Resolve them first.")
        )


def _filtered(top: Path, paths: Collection[str]) -> set[str]:
    """Those whose content on the disk a program makes of that in git: it is not run, so they cannot be put
    back to how the commit has them."""
    answer = listed(git(top, "check-attr", "-z", "--stdin", "filter", stdin=lines(paths)))
    triples = zip(answer[::3], answer[2::3], strict=True)
    return {path for path, value in triples if value not in ("unspecified", "unset")}


def entries(folder: Path) -> dict[str, str]:
    """What the index of a working tree has, `<mode> <object>` by path."""
    found = {}
    for entry in listed(git(folder, *_STAGED)):
        described, _, path = entry.partition("\t")
        found[path] = described.rpartition(" ")[0]
    return found


@contextmanager
def as_committed(worktree: Path, paths: Collection[str]) -> Iterator[Path]:
    """A folder with those of the files that the index of a worktree has, as git writes them there."""
    there = [path for path in entries(worktree) if path in set(paths)]
    with tempfile.TemporaryDirectory(prefix="opencode-web-head-") as folder:
        given = ("checkout-index", "-z", "--stdin", f"--prefix={folder}/")
        git(worktree, *given, stdin=lines(there), settings=unfiltered(worktree))
        yield Path(folder)


def stage(worktree: Path, wanted: Mapping[str, str]) -> None:
    """Give files of an index what they are to have there; empty takes one out."""
    if not wanted:
        return
    gone = f"0 {'0' * len(git(worktree, 'rev-parse', 'HEAD').strip())}"
    described = (f"{entry or gone}\t{path}" for path, entry in wanted.items())
    git(worktree, "update-index", "-z", "--index-info", stdin=lines(described))


def has_left(place: Place) -> bool:
    """What went to the worktree from the index goes from it; what somebody staged since stays. False where
    git cannot do that now: the note on it stays, and the next start tries again."""
    repository = Path(place.repository)
    back = {unpack_path(path): (was, then) for path, was, then in place.unstage}
    try:
        now = entries(repository) if back else {}
        stage(repository, {path: then for path, (was, then) in back.items() if now.get(path, "") == was})
    except GitError as error:
        logger.warning("%s: what went to %s is still staged: %s", repository, place.folder, error)
        return False
    return True


def to_unstage(found: Uncommitted, paths: Collection[str]) -> list[Entry]:
    """What the index has of those paths and the commit has, as `Place.unstage` has it: also where both are
    the same, as git takes a file of another size than it once had for changed."""
    there = entries(found.source.top)
    return [
        (pack_path(path), there.get(path, ""), entry)
        for path, entry in _committed(found.source, paths).items()
        if entry or path in there
    ]


def _committed(source: Source, paths: Collection[str]) -> dict[str, str]:
    """What the last commit has of these paths, as an index would."""
    found = dict.fromkeys(paths, "")
    if paths:
        for entry in listed(git(source.top, "ls-tree", "-r", "-z", "--full-tree", source.commit)):
            described, _, path = entry.partition("\t")
            mode, _, oid = described.split()
            if path in found:
                found[path] = f"{mode} {oid}"
    return found


def lines(names: Iterable[str]) -> bytes:
    """Names as git reads them with `-z`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)
