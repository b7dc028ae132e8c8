"""Snapshots of a worktree in a git repository of our own; the user's own is only ever read.

Ignored files (`.gitignore`, `.git/info/exclude`, the user's global ignore file) are seen only as far as there
is `room` for them; of others a shell command that changes one leaves no trace here. These are git's own
rules, asked of git itself. Nested repositories and submodules are folders like others, but for their `.git`.
Contents are kept raw: no line-ending conversion, no filters.

All functions block; the caller runs them in a thread.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from sessions.changes.snapshots.changes import (
    IGNORED,
    LOST,
    MADE_AGAIN,
    MOVED_IN,
    NESTED,
    NOT_KEPT,
    REPOSITORY,
    Change,
    Skipped,
    SnapshotError,
    Tree,
)
from sessions.changes.snapshots.modes import Modes, Usual, look, modes_of, under
from sessions.changes.snapshots.objects import EMPTY_FILE, ObjectStore
from sessions.changes.snapshots.pins import Pin
from sessions.changes.snapshots.project import ProjectGit, find_project_git, holds_home
from sessions.changes.snapshots.scan import (
    Scan,
    below,
    ignored_folders,
    is_made_again,
    left_out,
    read_status,
    sizes,
)
from sessions.changes.snapshots.watching.recall import Known, Recall, identity, mark, merged
from sessions.core.git import NO_HEAD, GitError, copy_index, run_git
from sessions.core.platform.births import born
from sessions.core.sentences import Sentence

# Begin with a copy of the project's index, so that what git knows already is not read and hashed again.

_NULL = "0" * 40
_SUBMODULE = "160000"
_PLAIN_TAG = "H"  # of ls-files -v; others: skip-worktree, unmerged, assume-unchanged (git-ls-files(1))


def borrow_index(store: ObjectStore, project: ProjectGit) -> None:
    """Copy the index of `project` into the store, less what would make it lie to us. Without one, or with
    one that cannot be read, the store begins with an empty index."""
    if project.index is None or not project.index.exists():
        return
    own = store.git_dir / "index"
    try:
        copy_index(project.index, own)
        copied = own.stat()
        for shared in project.index.parent.glob("sharedindex.*"):  # split index: gitformat-index(5)
            shutil.copyfile(shared, store.git_dir / shared.name)
        drop_from_index(store, _unfit_entries(store, project.top))
        os.utime(own, ns=(copied.st_atime_ns, copied.st_mtime_ns))  # git has written it anew
    except (GitError, OSError):
        own.unlink(missing_ok=True)


def drop_from_index(store: ObjectStore, paths: list[str]) -> None:
    """Forget `paths` (from the top); the files themselves are not touched."""
    if paths:
        lines = (b"0 %s\t%s\0" % (_NULL.encode(), os.fsencode(path)) for path in paths)
        store.git(["update-index", "-z", "--index-info"], stdin=b"".join(lines), borrowing=True)


def _unfit_entries(store: ObjectStore, top: Path) -> list[str]:
    """Submodules, files that sparse checkout keeps away or git was told not to look at, unresolved merges,
    files that are left out of snapshots, and files whose blob is not what is on the disk (line endings, LFS:
    git converted them). Those that are there are found again as untracked files."""
    listed = store.git(["ls-files", "-v", "-s", "-z"], borrowing=True)
    unfit, blobs = [], []
    for entry in listed.split(b"\0")[:-1]:
        described, _, name = entry.partition(b"\t")
        tag, mode, oid, stage = described.decode().split()
        path = os.fsdecode(name)
        plain = tag == _PLAIN_TAG and mode != _SUBMODULE and stage == "0"
        if not plain or left_out(top / path)[0]:
            unfit.append(path)
        else:
            blobs.append((path, oid))
    return unfit + _converted(store, top, blobs)


def _converted(store: ObjectStore, top: Path, blobs: Sequence[tuple[str, str]]) -> list[str]:
    """The files that are not as long as their blobs. What a conversion leaves at the same length (`ident`,
    some filters) is not told from this; such blobs are as good as the files for those who read text."""
    asked = "".join(f"{oid}\n" for _, oid in blobs).encode()
    sizes = store.git(["cat-file", "--batch-check=%(objectsize)"], stdin=asked, borrowing=True).split(b"\n")
    return [path for (path, _), size in zip(blobs, sizes, strict=False) if _length(top / path) != size]


def _length(path: Path) -> bytes:
    try:
        return str(path.lstat().st_size).encode()
    except OSError:
        return b""


# What changed from one tree to another, in terms of files.

_UNKEPT = (IGNORED, MADE_AGAIN)
"""Told of what goes only: that there is a new one hinders nothing."""
_NAMED = 500
"""Of more paths git is not asked by name, but for all."""


def compare(objects: ObjectStore, before: Tree, after: Tree) -> list[Change]:
    """The files that differ, by path, with their contents made our own. Raises GitError, OSError."""
    found: list[Change] = []
    if before.hash != after.hash:
        raw = objects.git(["diff-tree", "-r", "-z", "--raw", "--no-renames", before.hash, after.hash])
        found = list(parse_raw(raw))
        lost = objects.own(oid for change in found for oid in (change.before, change.after) if oid)
        found = [_lost(change) if change.before in lost else change for change in found]
        found = [_with_folders(change, after.made) for change in found]
    known = {change.path for change in found}
    found = [_with_modes(change, before, after) for change in found]
    found += _modes_alone(objects, before, after, before.modes.differ(after.modes) - known)
    for folder in before.repositories - after.repositories:
        found.append(Change(f"{folder}/.git".lstrip("/"), None, None, skipped=REPOSITORY))
    return sorted(_with_skipped(found, before, after), key=lambda change: change.path)


def _with_modes(change: Change, before: Tree, after: Tree) -> Change:
    was, now = (
        before.modes.of(change.path, change.mode_before),
        after.modes.of(change.path, change.mode_after),
    )
    return replace(change, mode_before=was, mode_after=now)


def _modes_alone(objects: ObjectStore, before: Tree, after: Tree, paths: Collection[str]) -> Iterator[Change]:
    """The files among `paths` that changed in their permissions only: their content is in both trees."""
    if not paths:
        return
    named = sorted(paths) if len(paths) <= _NAMED else []
    listed = objects.git(["ls-tree", "-r", "-z", after.hash, "--", *named], borrowing=True).split(b"\0")[:-1]
    found = []
    for entry in listed:
        described, _, name = entry.partition(b"\t")
        mode, _, oid = described.decode().split()
        path = os.fsdecode(name)
        was, now = (tree.modes.of(path, int(mode, 8)) for tree in (before, after))
        if path in paths and was != now:
            found.append(Change(path, oid, oid, was, now))
    objects.own(change.before for change in found if change.before)
    yield from found


def parse_raw(raw: bytes) -> Iterator[Change]:
    """Read the raw output format of git-diff-tree(1): `:mode mode id id status`, NUL, path, NUL."""
    fields = raw.split(b"\0")[:-1]
    for described, path in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, before, after, _ = described.decode().removeprefix(":").split()
        there, still = int(mode_before, 8) or None, int(mode_after, 8) or None
        yield Change(os.fsdecode(path), before if there else None, after if still else None, there, still)


def _lost(change: Change) -> Change:
    return Change(change.path, None, change.after, change.mode_before, change.mode_after, LOST)


def _with_folders(change: Change, made: frozenset[str]) -> Change:
    """How many of a new file's folders, the deepest first, are new as well."""
    if not made or change.mode_before is not None:
        return change
    parents = PurePosixPath(change.path).parents[:-1]
    new = [any(str(folder) in made for folder in (parent, *parent.parents)) for parent in parents]
    return replace(change, new_folders=sum(new))


def _with_skipped(found: list[Change], before: Tree, after: Tree) -> Iterator[Change]:
    """Name also the files that changed but lie outside of one tree or both."""
    was = {skipped.path: skipped for skipped in before.skipped}
    now = {skipped.path: skipped for skipped in after.skipped}
    reasons = {path: _reason(was.get(path), now.get(path)) for path in was.keys() | now.keys()}
    folders = frozenset(path.removesuffix("/") for path in reasons if path.endswith("/"))
    for change in found:
        reason = change.skipped or reasons.get(change.path)
        if reason is None and under(change.path, folders):
            reason = next(reasons[path] for path in reasons if change.path.startswith(path))
        reasons.pop(change.path, None)
        yield replace(change, skipped=reason)
    for path, reason in reasons.items():
        if was.get(path) != now.get(path) and (path in was or reason not in _UNKEPT):
            yield Change(path, None, None, skipped=reason)


def _reason(was: Skipped | None, now: Skipped | None) -> str | None:
    either = now or was
    return either.reason if either else None


# Whether what a command left was made by it, or was somewhere before, where no snapshot saw it.
#
# A path that is new to the snapshots was not always made: a rule of git that went makes ignored files
# seen, and `mv` brings files from ignored places and from outside of the project. An undo must not remove
# those (docs/decisions/0032). What tells them apart are the time stamps of the file and, where the file
# system keeps it, the time it was made, which stays with it when it is moved.

_SECOND = 1_000_000_000


def traced(
    changes: Sequence[Change], since: int, worktree: Path, objects: ObjectStore, before: Tree, after: Tree
) -> list[Change]:
    """`changes` between two trees, without files that git ignored before and that nothing touched since
    `since` (nanoseconds, by `births.now`), with MOVED_IN on those whose content is older than that and was in
    no snapshot, and with what an undo cannot reach: ignored files that are gone, repositories that came.

    A content that is at another place, too, or was there before under another name, is known: a copy, or a
    file that was renamed. Raises GitError.
    """
    ignored = frozenset(path.removesuffix("/") for path in before.ignored)
    found = [change for change in changes if not _came_into_sight(change, since, worktree, ignored)]
    named = {change.path for change in found}
    for path in sorted(before.ignored - after.ignored - named):
        if not os.path.lexists(worktree / path):
            found.append(Change(path, None, None, skipped=NOT_KEPT))
    for folder in sorted(after.repositories - before.repositories):
        found.append(Change(f"{folder}/.git".lstrip("/"), None, None, skipped=REPOSITORY))
    older = {change.path for change in found if _is_older(change, since, worktree)}
    if not older:
        return found
    known = {change.before for change in found}
    known |= _contents(objects, after, older)
    return [
        replace(change, skipped=MOVED_IN) if change.path in older and change.after not in known else change
        for change in found
    ]


def _came_into_sight(change: Change, since: int, worktree: Path, ignored: frozenset[str]) -> bool:
    """Whether a rule of git went, and nothing else happened to the file."""
    if change.mode_before is not None or not under(change.path, ignored):
        return False
    try:
        return os.lstat(worktree / change.path).st_ctime_ns < since
    except OSError:
        return False


def _is_older(change: Change, since: int, worktree: Path) -> bool:
    """Whether the content at a path was made before. A file that is written to keeps its time of birth: only
    of one that is new does it tell something."""
    if change.skipped or change.after is None or change.after == change.before:
        return False
    path = worktree / change.path
    try:
        written = os.lstat(path).st_mtime_ns
        times = [written if written % _SECOND else written + _SECOND - 1]  # archives keep whole seconds
        if change.before is None:
            times.append(born(path) or since)
    except OSError:
        return False
    return min(times) < since


def _contents(objects: ObjectStore, tree: Tree, without: set[str]) -> set[str | None]:
    """The object ids of all files of a tree but some."""
    listed = objects.git(["ls-tree", "-r", "-z", tree.hash], borrowing=True).split(b"\0")[:-1]
    entries = (entry.partition(b"\t") for entry in listed)
    return {
        described.split()[2].decode() for described, _, name in entries if os.fsdecode(name) not in without
    }


# The snapshots themselves.

FULL_MARK = "full"
"""A file of this name beside the stores says that they hold more than their quota."""

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_INSIDE = ".opencode-web-inside"  # git looks into another repository where our index has a file in it
_NESTED_FILES = 20_000  # new ones in other repositories; with more at once, these are left out
_MOST_IGNORED = 5000  # in one folder that git ignores
_PACK_FROM = 200  # files in one go, from which one pack is cheaper than so many loose objects
_STATUS = (
    *("status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching"),
    *("--no-renames", "--ignore-submodules=all"),
)


def refusal(worktree: Path) -> str | None:
    """Why no snapshots are taken of `worktree`, in words for the page; None when they can be."""
    if not worktree.is_dir():
        return Sentence("%(worktree)s is not a folder", worktree=worktree)
    if not os.access(worktree, os.R_OK | os.X_OK):
        return Sentence("%(worktree)s cannot be read", worktree=worktree)
    if holds_home(worktree):
        return Sentence(
            "%(worktree)s holds your whole home folder: no snapshots are taken of it", worktree=worktree
        )
    return None


class SnapshotStore:
    """The snapshots of one worktree, kept in the git directory `root` (one per project; made if missing)."""

    def __init__(self, root: Path, worktree: Path) -> None:
        self.root = root
        self.worktree = worktree.resolve()
        self.objects = ObjectStore(root)
        self._last: tuple[bytes, str] = (b"", _EMPTY_TREE)
        self._project = ProjectGit(self.worktree)
        self._found: tuple[int | None, ProjectGit] | None = None
        self._recall = Recall(self.worktree)
        self._pin = Pin(root)
        self._full = root.parent / FULL_MARK
        self.room = 0
        """Bytes of files that git ignores, which are kept as well: the smallest files and folders first."""
        self._usual: Usual | None = None
        self._inner: frozenset[str] = frozenset()
        self._closed: set[str] = set()
        self._lock = -1
        """The descriptor of the lock, while it is held."""

    def track(self) -> Tree:
        """Record the worktree as it is now. Raises SnapshotError (refused, git failed, disk full)."""
        if reason := refusal(self.worktree):
            raise SnapshotError(reason)
        try:
            with self.locked():
                return self._track_surely()
        except (GitError, OSError) as error:
            raise SnapshotError(
                Sentence("No snapshot of %(worktree)s: %(error)s", worktree=self.worktree, error=error)
            ) from error

    def changes(self, before: Tree, after: Tree, since: int = 0) -> list[Change]:
        """The files that differ, by path, with their contents made our own; `after` is how the worktree is
        now, and what is older than `since` was not made by who is asked about (`provenance.traced`). Raises
        SnapshotError."""
        try:
            found = compare(self.objects, before, after)
            return traced(found, since, self.worktree, self.objects, before, after) if since else found
        except (GitError, OSError) as error:
            raise SnapshotError(
                Sentence(
                    "Snapshots of %(worktree)s cannot be compared: %(error)s",
                    worktree=self.worktree,
                    error=error,
                )
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Serialise over threads and processes. git inherits the lock, so it is held until the last git of a
        killed process has ended; whoever holds it knows that a lock file of git's own is a leftover."""
        descriptor = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            (self.root / "index.lock").unlink(missing_ok=True)
            self._lock = descriptor
            try:
                yield
            finally:
                self._lock = -1
        finally:
            os.close(descriptor)

    def _find_project(self) -> ProjectGit:
        """The project's git, looked up again when `.git` has come or gone."""
        mark = self.worktree / ".git"
        inode = mark.lstat().st_ino if mark.exists() else None
        if self._found is None or self._found[0] != inode:
            self._found = (inode, find_project_git(self.worktree))
        return self._found[1]

    def _prepare(self) -> None:
        """Bring the store in line with the project's git: what to borrow and ignore, where paths begin."""
        self._project = project = self._find_project()
        self.objects.borrow(project.objects)
        scope, rules = self.root / "scope", self.root / "info" / "exclude"
        scoped = os.fsencode(project.prefix) + b"\0" * bool(self.room)
        if not scope.exists() or scope.read_bytes() != scoped:
            (self.root / "index").unlink(missing_ok=True)
            borrow_index(self.objects, project)
            scope.write_bytes(scoped)
        wanted = b""
        if project.exclude and project.exclude.is_file():
            wanted = project.exclude.read_bytes()
        if self.root.resolve().is_relative_to(project.top):
            wanted += b"\n/" + os.fsencode(self.root.resolve().relative_to(project.top)) + b"/\n"
        if not rules.exists() or rules.read_bytes() != wanted:
            rules.write_bytes(wanted)

    def _track_surely(self) -> Tree:
        """Track; once more when files moved under our feet; from nothing when the index itself is broken."""
        for again in (False, True):
            try:
                return self._track()
            except GitError:
                self._recall.forget()
                if again:
                    self._forget()
        return self._track()

    def _forget(self) -> None:
        """Drop what can be made anew: the index and the last tree. Contents and older trees stay."""
        (self.root / "scope").unlink(missing_ok=True)
        (self.root / "HEAD").write_text(NO_HEAD)

    def _track(self) -> Tree:
        """From memory where nothing happened; else git looks where something did, or at everything."""
        known = self._recall.ask(self._rules(), mark(self.root / "index"))
        if known is not None and not known.changed:
            return known.tree
        if known is None:
            self._prepare()
            self._recall.begin(self._rules(), self._ignored)
        if alike := self._recall.alike(self._listed([]) if known is None else known.changed):
            self._reread(alike)
        status = self._status(self._asked(known.changed) if known else ())
        scan = self._entered(read_status(status, self._project, full=self._full.exists()))
        self._keep_ignored(scan)
        self._update(scan)
        if scan.add or scan.drop or scan.staged:
            self._commit()
        made = known.made if known else frozenset()
        modes, repositories = self._looked(known)
        skipped = merged(known, scan.skipped)
        tree = Tree(self._current_tree(), skipped, modes, repositories, made, self._ignored_now(known, scan))
        self._pin.hold(tree.hash)
        self._recall.keep(tree, mark(self.root / "index"), whole=known is None)
        return tree

    def _reread(self, paths: Iterable[str]) -> None:
        """Have the index forget how files looked from outside, so that git reads them."""
        only = [f"{self._project.prefix}{path}" for path in paths]
        listed = self._git(["ls-files", "-s", "-z", "--", *only])
        self._git(["update-index", "-z", "--index-info"], listed)

    def _asked(self, changed: Iterable[str]) -> set[str]:
        """What git has to be asked about: of another repository without a file in our index the whole."""
        around = {path: self._around(path) for path in changed}
        if found := {folder for folders in around.values() for folder in folders}:
            for path in self._listed(found):
                found.difference_update(str(parent) for parent in PurePosixPath(path).parents)
        return {next((f for f in folders if f in found), path) for path, folders in around.items()}

    def _around(self, path: str) -> list[str]:
        """The repositories that a path is in, the outermost first, but for the worktree."""
        above = (str(parent) for parent in reversed(PurePosixPath(path).parents[:-1]))
        return [folder for folder in above if os.path.lexists(self.worktree / folder / ".git")]

    def _entered(self, scan: Scan) -> Scan:
        """With what is in the repositories that git did not look into."""
        seen = set(self._closed)
        while new := [s.path for s in scan.skipped if s.reason == NESTED and s.path not in seen]:
            seen.update(new)
            prefix, empty = self._project.prefix, EMPTY_FILE.encode()
            names = [f"{prefix}{folder}{_INSIDE}" for folder in new]
            lines = b"".join(b"100644 %s 0\t%s\0" % (empty, os.fsencode(name)) for name in names)
            self._git(["update-index", "-z", "--index-info"], lines)
            inside = read_status(self._status(new), self._project, full=self._full.exists())
            if len(inside.add) > _NESTED_FILES:
                self._closed.update(new)
                self._git(["update-index", "-z", "--force-remove", "--stdin"], _names(names))
                continue
            scan.skipped = [item for item in scan.skipped if item.path not in new] + inside.skipped
            scan.add, scan.drop, scan.staged = scan.add + inside.add, scan.drop + inside.drop, True
            scan.ignored += inside.ignored
        return scan

    def _keep_ignored(self, scan: Scan) -> None:
        """Add what git ignores, as far as there is room."""
        if not (scan.ignored and self.room):
            return
        prefix, top = self._project.prefix, self._project.top
        kept = self._git(["ls-files", "-z", "-c", "-i", "--exclude-standard"]).split(b"\0")[:-1]
        room = self.room - sum(size for _, size in sizes(top, map(os.fsdecode, kept)))
        again = [path for path in scan.ignored if is_made_again(top, path)]
        scan.skipped += [Skipped(path.removeprefix(prefix), MADE_AGAIN, (0, 0)) for path in again]
        rest = [path for path in scan.ignored if path not in again]
        groups = [list(islice(sizes(top, below(top, path)), _MOST_IGNORED + 1)) for path in rest]
        named = sorted(zip(rest, groups, strict=True), key=lambda group: sum(s for _, s in group[1]))
        scan.ignored = again
        for name, files in named:
            room -= sum(size for _, size in files)
            if room < 0 or len(files) > _MOST_IGNORED:
                scan.ignored.append(name)
                scan.skipped.append(Skipped(name.removeprefix(prefix), IGNORED, (0, 0)))
                continue
            for path, _ in files:
                reason, found = left_out(top / path, full=self._full.exists())
                if found and reason:
                    stamp = (found.st_size, found.st_mtime_ns)
                    scan.skipped.append(Skipped(path.removeprefix(prefix), reason, stamp))
                elif found:
                    scan.add.append(path)
            if files and name.endswith("/"):
                self._recall.unwatch()

    def _ignored_now(self, known: Known | None, scan: Scan) -> frozenset[str]:
        found = {path.removeprefix(self._project.prefix) for path in scan.ignored}
        if known is not None:
            found.update(path for path in known.tree.ignored if not under(path, known.changed))
        return frozenset(found)

    def _looked(self, known: Known | None) -> tuple[Modes, frozenset[str]]:
        """The permissions of all files and the repositories, looked at as far as they are not known."""
        if known is not None:
            modes, changed = known.tree.modes, known.changed
            folders = [path for path in changed if (self.worktree / path).is_dir()]
            paths = self._listed(folders) if folders else []
            left = {folder for folder in known.tree.repositories if not under(folder, changed)}
            modes = modes.renewed(self.worktree, {*paths, *changed}, changed)
            self._inner = self._repositories(paths, left)
            return modes, self._inner
        paths = self._listed([])
        modes = modes_of(look(self.worktree, paths), self._usual)
        self._usual = modes.usual if paths else None
        self._inner = self._repositories(paths, self._inner)
        return modes, self._inner

    def _repositories(self, paths: Iterable[str], known: Collection[str]) -> frozenset[str]:
        """Of the folders of files, and of those that had one, the ones that have a `.git`."""
        folders = {os.path.dirname(path) for path in paths} | {"", *known}
        for folder in list(folders):
            folders.update(str(parent) for parent in PurePosixPath(folder).parents[:-1])
        return frozenset(name for name in folders if os.path.lexists(self.worktree / name / ".git"))

    def _listed(self, folders: Iterable[str]) -> list[str]:
        """The files of the index in folders of the worktree; without any, all of them."""
        prefix = self._project.prefix
        only = [f"{prefix}{folder}" for folder in folders] or ([prefix] if prefix else [])
        found = self._git(["ls-files", "-z", "--", *only]).split(b"\0")[:-1]
        return [os.fsdecode(name).removeprefix(prefix) for name in found]

    def _rules(self) -> tuple[object, ...]:
        """A mark of all that decides which files are seen, but for `.gitignore` files of the worktree."""
        project, above = self._project, PurePosixPath(self._project.prefix)
        folders = [project.top.joinpath(*above.parts[:depth]) for depth in range(len(above.parts))]
        return (
            self._full.exists(),
            self.room,
            identity(self.worktree),
            identity(project.top / ".git"),
            mark(project.exclude),
            mark(project.global_excludes),
            *(mark(folder / ".gitignore") for folder in folders),
        )

    def _status(self, paths: Iterable[str]) -> bytes:
        """What git says of paths in the worktree; without any, of all of it."""
        return self._git(self._status_of(paths))

    def _status_of(self, paths: Iterable[str]) -> list[str]:
        excludes, prefix = self._project.global_excludes, self._project.prefix
        given = ["-c", f"core.excludesFile={excludes}"] if excludes else []
        only = [f"{prefix}{path}" for path in paths] or ([prefix] if prefix else [])
        return [*given, *_STATUS, "--", *only]

    def _ignored(self, folders: list[str]) -> set[str]:
        """The folders that git ignores as such, in the worktree or in folders of it."""
        return ignored_folders(self._git(self._status_of(filter(None, folders))), self._project)

    def _update(self, scan: Scan) -> None:
        if scan.drop:
            self._git(["update-index", "-z", "--force-remove", "--stdin"], _names(scan.drop))
        if scan.add:
            # A file that counts as big goes into one pack with the others (git-config(1), bigFileThreshold).
            given = ["-c", "core.bigFileThreshold=1"] if len(scan.add) >= _PACK_FROM else []
            argv = [*given, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"]
            self._git(argv, _names(scan.add))

    def _commit(self) -> None:
        """Point HEAD to the tree of the index: status compares with it, and it outlives this process."""
        tree = self._git(["write-tree", "--missing-ok"]).decode().strip()
        who = "snapshot <> 0 +0000"
        text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n"
        head = f"{self.objects.put(text.encode(), 'commit')}\n"
        temporary = self.root / "HEAD.new"
        temporary.write_text(head)
        temporary.replace(self.root / "HEAD")
        if not self._project.prefix:
            self._last = (head.encode(), tree)

    def _current_tree(self) -> str:
        """The tree of the worktree in the last commit; git is asked only when that commit is a new one."""
        head = (self.root / "HEAD").read_bytes()
        if head.startswith(b"ref:"):
            return _EMPTY_TREE
        if self._last[0] != head:
            name = f"HEAD:{self._project.prefix.removesuffix('/')}"
            try:
                tree = self._git(["rev-parse", "--verify", "-q", name]).decode().strip()
            except GitError:
                tree = _EMPTY_TREE  # a folder without files is not in its parent's tree
            self._last = (head, tree)
        return self._last[1]

    def _git(self, arguments: list[str], stdin: bytes = b"") -> bytes:
        """Run git on the worktree, without sight of borrowed objects (see ObjectStore.git)."""
        place = [f"--git-dir={self.root}", f"--work-tree={self._project.top}"]
        return run_git([*place, *arguments], cwd=self._project.top, stdin=stdin, pass_fds=[self._lock])


def _names(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
