"""Three-way merge of contents: take back one change where others have been made since."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sessions.diffs.hunks import is_binary
from sessions.snapshots.git import GitError, clean_environment

_MARKER = 57  # characters of a conflict marker: longer than any that a file is likely to hold itself


@dataclass(frozen=True, slots=True)
class Conflict:
    """A stretch changed on both sides: `line` (from 1) in the file as it is now, and the three contents."""

    line: int
    current: bytes
    base: bytes
    other: bytes


@dataclass(frozen=True, slots=True)
class Merge:
    """`content` is None when there are conflicts; a binary file conflicts as a whole."""

    content: bytes | None
    conflicts: tuple[Conflict, ...] = ()


def three_way(base: bytes, current: bytes, other: bytes) -> Merge:
    """`current` with the change from `base` to `other` applied, line by line and byte for byte.

    To undo a change, `base` is the content after it and `other` the content before it. Raises GitError.
    """
    if current == base:
        return Merge(other)
    if other in (base, current):
        return Merge(current)
    if any(is_binary(content) for content in (base, current, other)):
        return Merge(None, (Conflict(1, current, base, other),))
    output, conflicts = _merge_file(base, current, other)
    if not conflicts:
        return Merge(output)
    return Merge(None, tuple(_read_conflicts(output)) or (Conflict(1, current, base, other),))


def _merge_file(base: bytes, current: bytes, other: bytes) -> tuple[bytes, bool]:
    """The output of git-merge-file(1), and whether there are conflict markers in it."""
    with tempfile.TemporaryDirectory(prefix="opencode-web-merge-") as name:
        folder = Path(name)
        contents = {"current": current, "base": base, "other": other}
        for label, content in contents.items():
            (folder / label).write_bytes(content)
        labels = [part for label in contents for part in ("-L", label)]
        command = ["git", "merge-file", "-p", "-q", "--diff3", f"--marker-size={_MARKER}", *labels, *contents]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, check=False, env=clean_environment()
            )
        except OSError as error:
            raise GitError(f"git could not be started: {error}") from error
    if done.returncode > 127:
        raise GitError(f"git merge-file failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout, done.returncode != 0


def _read_conflicts(output: bytes) -> Iterator[Conflict]:
    """The conflicts between the markers of `output`; their line is counted in the current file."""
    signs = {"current": b"<", "base": b"|", "other": b">"}
    mark = {label: re.escape(sign * _MARKER + b" " + label.encode()) for label, sign in signs.items()}
    divider = b"=" * _MARKER
    pattern = re.compile(
        rb"^%s\r?\n(.*?)^%s\r?\n(.*?)^%s\r?\n(.*?)^%s\r?\n"
        % (mark["current"], mark["base"], divider, mark["other"]),
        re.DOTALL | re.MULTILINE,
    )
    line, at = 1, 0
    for found in pattern.finditer(output):
        line += output.count(b"\n", at, found.start())
        yield Conflict(line, *found.groups())
        line += found[1].count(b"\n")
        at = found.end()
