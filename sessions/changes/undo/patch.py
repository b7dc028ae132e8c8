"""A patch read as the changes that it made to files that are still as it left them."""

from __future__ import annotations

import re
import stat
import tempfile
from itertools import pairwise
from pathlib import Path

from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectStore, object_id
from sessions.changes.undo.files import AS_NEW, FileState, UnsafePath, read_file
from sessions.core.git import GitError, run_git

_CONTEXT = 3
"""Lines that git shows around a change."""
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,\d+)? @@.*\n", re.MULTILINE)
_CONTENT = re.compile(rb"^index ([0-9a-f]+)\.\.", re.MULTILINE)
_MOVED = re.compile(r"^(?:rename|copy) from ", re.MULTILINE)  # no line of a hunk begins so


def changes_of(patch: str, store: ObjectStore, worktree: Path) -> list[Change]:
    """One for each file of a patch as git writes it, and trimmed as OpenCode does. Passed over are files that
    are not as the patch left them, links, renamed, copied and binary files. Contents are put into `store`.
    Raises OSError when that cannot be written."""
    patch = _whole(patch)
    starts = [found.start() for found in _FILE.finditer(patch)]
    files = (patch[start:end] for start, end in pairwise([*starts, len(patch)]))
    return [
        change
        for file in files
        if not _MOVED.search(file)
        and (change := _change(file.encode("utf-8", "replace"), store, worktree)) is not None
    ]


def _whole(patch: str) -> str:
    """With the end of its last line, and blank lines of context after it."""
    *_, last = [None, *_HUNK.finditer(patch)]
    if last is None:
        return patch
    lines = patch[last.end() :].removesuffix("\n").split("\n")
    missing = min(_CONTEXT, int(last[1] or 1) - sum(line[:1] in (" ", "-") for line in lines))
    return "\n".join([patch.removesuffix("\n"), *[" "] * missing, ""])


def _change(patch: bytes, store: ObjectStore, worktree: Path) -> Change | None:
    with tempfile.TemporaryDirectory(prefix="opencode-web-patch-") as folder:
        scratch, alone = Path(folder), {"GIT_CEILING_DIRECTORIES": str(Path(folder).parent)}
        try:
            listed = run_git(["apply", "--numstat", "-z"], cwd=scratch, stdin=patch, extra=alone)
            path = listed.removesuffix(b"\0").split(b"\t", 2)[2].decode()
            after = read_file(worktree, path)
            if after is not None and stat.S_ISREG(after.mode):
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_bytes(after.content)
            run_git(["apply", "-R", "--whitespace=nowarn"], cwd=scratch, stdin=patch, extra=alone)
            before = read_file(scratch, path)
            named = _CONTENT.search(patch)
            if before and not (named and object_id(before.content).encode().startswith(named[1])):
                return None  # white space that was trimmed
        except (GitError, UnsafePath, ValueError):
            return None
    if before is not None:
        before = FileState(before.content, after.mode if after else before.mode | AS_NEW)
    return Change(
        path,
        before=store.put(before.content) if before else None,
        after=store.put(after.content) if after else None,
        mode_before=before.mode if before else None,
        mode_after=after.mode if after else None,
    )
