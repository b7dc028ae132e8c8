"""What is staged: files as a whole, and hunks and lines of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.diffs.hunks import pieces, without
from sessions.changes.diffs.lines import changed_spans, split_lines
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.sides import Sides, staged, unstaged

_FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")


class Changed(GitError):
    """The file is not what the person saw."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A part of the changes of a file that was `seen` so: hunks by their keys, or lines by their numbers from
    1, of those that were removed and of those that were added."""

    seen: str
    hunks: frozenset[str] = frozenset()
    removed: frozenset[int] = frozenset()
    added: frozenset[int] = frozenset()

    def of(self, sides: Sides) -> tuple[bytes, bytes]:
        """What the file before becomes with these changes alone, and with all but these. Raises Changed."""
        if sides.seen != self.seen or sides.binary:
            raise Changed(gettext("The file has changed since it was shown. Look at it again."))
        before, after = sides.before or b"", sides.after or b""
        if self.hunks:
            keys = {piece.key for piece in pieces(split_lines(before), split_lines(after))}
            return without(before, after, keys - self.hunks), without(before, after, self.hunks)
        return (
            _with_lines(before, after, self.removed.__contains__, self.added.__contains__),
            _with_lines(
                before, after, lambda line: line not in self.removed, lambda line: line not in self.added
            ),
        )


def stage(git: Git, paths: Sequence[str]) -> None:
    """Files as they are now, deleted ones too. Raises GitError."""
    git.write("add", "--all", *_FROM_INPUT, stdin=_listed(paths))


def unstage(git: Git, paths: Sequence[str]) -> None:
    """As in the last commit. Raises GitError."""
    git.write("reset", "--quiet", *_FROM_INPUT, stdin=_listed(paths))


def stage_part(git: Git, path: str, chosen: Chosen) -> None:
    """Raises Changed, GitError."""
    sides = _required(unstaged(git, path))
    content, _ = chosen.of(sides)
    if content == (sides.after or b""):
        stage(git, [path])
    else:
        _put(git, path, content, sides)


def unstage_part(git: Git, path: str, chosen: Chosen) -> None:
    """Raises Changed, GitError."""
    sides = _required(staged(git, path))
    _, content = chosen.of(sides)
    if content == (sides.before or b""):
        unstage(git, [path])
    else:
        _put(git, path, content, sides)


def _required(sides: Sides | None) -> Sides:
    if sides is None:
        raise Changed(gettext("The file has no such changes any more. Look at it again."))
    return sides


def _put(git: Git, path: str, content: bytes, sides: Sides) -> None:
    """The content as it is: what filters had to do is done (`sides`)."""
    mode = sides.mode_after or sides.mode_before
    address = git.write("hash-object", "-w", "--stdin", stdin=content).strip()
    entry = f"{mode:o} {address}\t{path}\0"
    git.write("update-index", "--add", "-z", "--index-info", stdin=os.fsencode(entry))


def _listed(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _with_lines(
    before: bytes, after: bytes, removed: Callable[[int], bool], added: Callable[[int], bool]
) -> bytes:
    """`before` without the lines that are `removed`, with those of after that are `added`."""
    old, new = split_lines(before), split_lines(after)
    made: list[bytes] = []
    at = 0
    for a, b, c, d in changed_spans(old, new):
        made += old[at:a]
        made += [old[line] for line in range(a, b) if not removed(line + 1)]
        made += [new[line] for line in range(c, d) if added(line + 1)]
        at = b
    made += old[at:]
    # A last line without its end may not be the last any more.
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in made[:-1]) + b"".join(
        made[-1:]
    )
