"""Begin with a copy of the project's index, so that what git knows already is not read and hashed again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.project import ProjectGit
from sessions.changes.snapshots.scan import left_out
from sessions.core.git import GitError

_NULL = "0" * 40
_SUBMODULE = "160000"
_PLAIN_TAG = "H"  # of ls-files -v; others: skip-worktree, unmerged, assume-unchanged (git-ls-files(1))


def borrow_index(store: ObjectStore, project: ProjectGit) -> None:
    """Copy the index of `project` into the store, less what would make it lie to us. Without one, or with
    one that cannot be read, the store begins with an empty index."""
    if project.index is None or not project.index.exists():
        return
    try:
        shutil.copyfile(project.index, store.git_dir / "index")
        for shared in project.index.parent.glob("sharedindex.*"):  # split index: gitformat-index(5)
            shutil.copyfile(shared, store.git_dir / shared.name)
        drop_from_index(store, _unfit_entries(store, project.top))
    except (GitError, OSError):
        (store.git_dir / "index").unlink(missing_ok=True)


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
