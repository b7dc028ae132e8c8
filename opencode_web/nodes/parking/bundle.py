"""A state of a project as git bundles (git-bundle(1)), and a folder made of them again. All of it blocks.

The commits are our own, in a repository beside the snapshots that holds only them. The tree of each has the
files below `worktree/`, and below `contents/` what undo needs of earlier ones, by address.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.project import find_project_git
from sessions.core.git import GitError, run_git

_BRANCH = "refs/heads/parked"
_SAFE = ("-c", "safe.directory=*")
_OWN = ("HEAD", "--branches", "--not", "--remotes")
"""Commits that are in this repository and, as far as it knows, nowhere else."""


class State:
    """Makes the bundles of one project; `root` is the repository of the commits, made if it is missing."""

    def __init__(self, root: Path, snapshots: ObjectStore, worktree: Path) -> None:
        self._own = ObjectStore(root)
        self._snapshots = snapshots
        borrowed = find_project_git(worktree).objects
        self._others = [snapshots.git_dir / "objects", *([borrowed] if borrowed else [])]

    def tree(self, worktree: str, contents: Collection[str]) -> str:
        """That of a state: of the files, and of contents by their addresses. Raises GitError."""
        return self._tree({"contents": self._contents(contents), "worktree": worktree})

    def tree_of(self, commit: str) -> str:
        """Empty where the commit is not here."""
        try:
            return self._own.git(["rev-parse", "--verify", "-q", f"{commit}^{{tree}}"]).decode().strip()
        except GitError:
            return ""

    def commit(self, tree: str, before: str, time: int) -> str:
        """The commit of a `tree`, at `time` (ms); `before` is the one that it stands on, if any. Raises
        OSError."""
        who = f"parked <> {time // 1000} +0000"
        parent = f"parent {before}\n" if before else ""
        text = f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\n"
        return self._own.put(text.encode(), "commit")

    def write(self, target: Path, commit: str, before: str) -> None:
        """The bundle of a commit, less what that before it has. Raises GitError, OSError."""
        self._own.git(["update-ref", _BRANCH, commit])
        without = [f"^{before}"] if before else []
        self._own.git(["bundle", "create", "-q", os.fspath(target), _BRANCH, *without], also=self._others)

    def _contents(self, oids: Collection[str]) -> str:
        """Those of them that are there, in a folder for each two digits that they begin with."""
        asked = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
        found = self._snapshots.git(["cat-file", "--batch-check"], stdin=asked).decode().splitlines()
        groups: dict[str, list[str]] = defaultdict(list)
        for oid, kind, *_ in map(str.split, found):
            if kind == "blob":
                groups[oid[:2]].append(f"100644 blob {oid}\t{oid[2:]}")
        listed = "\n\n".join("\n".join(lines) for lines in groups.values())
        made = (
            self._own.git(["mktree", "--batch", "--missing"], stdin=f"{listed}\n".encode()) if groups else b""
        )
        return self._tree(dict(zip(groups, made.decode().split(), strict=True)))

    def _tree(self, folders: Mapping[str, str]) -> str:
        lines = "".join(f"040000 tree {oid}\t{name}\n" for name, oid in folders.items())
        return self._own.git(["mktree", "--missing"], stdin=lines.encode()).decode().strip()


@dataclass(frozen=True, slots=True)
class Standing:
    """What a repository stands on; empty without one. `remote` is its address, without a password."""

    remote: str = ""
    head: str = ""
    branch: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)


def standing(worktree: Path) -> Standing:
    """Of the repository of a folder, if it is in one that has a commit."""
    try:
        head = _ask(worktree, "rev-parse", "--verify", "-q", "HEAD")
    except GitError:
        return Standing()
    listed = _ask(worktree, "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads")
    heads = {name: oid for oid, _, name in (line.partition(" ") for line in listed.splitlines())}
    return Standing(_remote(worktree), head, _maybe(worktree, "symbolic-ref", "-q", "--short", "HEAD"), heads)


def write_history(target: Path, worktree: Path, known: Iterable[str]) -> bool:
    """The commits that no remote has, less `known` ones, as a bundle; False where there are none. Raises
    GitError."""
    of = [*_OWN, *(oid for oid in sorted(set(known)) if _maybe(worktree, "cat-file", "-t", oid))]
    if _ask(worktree, "rev-list", "--count", "--max-count=1", *of) == "0":
        return False
    run_git([*_SAFE, "bundle", "create", "-q", os.fspath(target), *of], cwd=worktree)
    return True


def _remote(worktree: Path) -> str:
    names = _maybe(worktree, "remote").split()
    if not names:
        return ""
    name = "origin" if "origin" in names else names[0]
    return without_password(_maybe(worktree, "config", "--get", f"remote.{name}.url"))


def without_password(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    if not parts.scheme or parts.password is None:
        return address
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _ask(worktree: Path, *arguments: str) -> str:
    return os.fsdecode(run_git([*_SAFE, *arguments], cwd=worktree)).strip()


def _maybe(worktree: Path, *arguments: str) -> str:
    """Empty where git says no."""
    try:
        return _ask(worktree, *arguments)
    except GitError:
        return ""


def unpack(store: ObjectStore, bundles: Sequence[Path]) -> None:
    """The objects of bundles, which stand on one another, into a store. Raises GitError."""
    for bundle in bundles:
        store.git(["bundle", "unbundle", os.fspath(bundle)])


def lay(store: ObjectStore, tree: str, folder: Path) -> None:
    """The files of a tree into an empty folder, as they were. Raises GitError."""
    index = {"GIT_INDEX_FILE": os.fspath(store.git_dir / "laid")}
    place = [f"--git-dir={store.git_dir}", f"--work-tree={folder}"]
    run_git([*place, "read-tree", tree], extra=index, cwd=folder)
    run_git([*place, "checkout-index", "--all", "--force", "-q"], extra=index, cwd=folder)
