"""A hunk that cannot be taken back by itself, because its lines have been changed since: both sides, and the
file that comes of a choice between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sessions.changes.diffs.hunks import is_binary, without
from sessions.changes.diffs.lines import changed_spans, split_lines
from sessions.changes.review.verdicts import Listing, ReviewedFile, Step, judge
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.files import UnsafePath, read_file
from sessions.changes.undo.merge import Conflict, Region, regions, settle

LARGEST = 2 * 1024 * 1024
"""Bytes of a file from which on a choice is not offered."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The file in pieces: bytes that both sides agree on, and the stretches they do not. `seen` is the file's
    object id when it was read; `removed` whether the other side is that there is no file."""

    pieces: tuple[bytes | Conflict, ...]
    seen: str
    removed: bool = False

    @property
    def conflicts(self) -> list[Conflict]:
        return [piece for piece in self.pieces if isinstance(piece, Conflict)]

    def settled(self, answers: Sequence[bytes]) -> bytes:
        """The file with each conflict replaced by its answer."""
        left = iter(answers)
        return b"".join(next(left) if isinstance(piece, Conflict) else piece for piece in self.pieces)


def sides(file: ReviewedFile, found: Listing, pick: str) -> Sides | None:
    """Both sides of a hunk as the file is now; None where there is no text to choose from. Of what is staged
    the other side is the file with the hunk, else the file without it. Blocks."""
    step = next(
        (step for step in judge(file, found) if pick in {one.key for one in step.hunks.values()}), None
    )
    try:
        root, path = found.roots.at(file.path)
        now = read_file(root.worktree, path)
    except (OSError, UnsafePath):
        return None
    if step is None or now is None:
        return None
    staged = found.scope.kind == "staged"
    start, end = (step.before, step.after) if staged else (step.after, step.before)
    if start is None and not staged:
        return None
    base, wanted = start or b"", end or b""
    keys = {key for key, judged in step.hunks.items() if judged.key == pick}
    other = _taken(step, keys, staged=staged) if "" not in keys else wanted
    contents = (base, now.content, other)
    if any(is_binary(content) or len(content) > LARGEST for content in contents):
        return None
    return Sides(tuple(_pieces(*contents)), object_id(now.content), end is None)


def open_merge(base: bytes, current: bytes, other: bytes, seen: str, *, close: bool = False) -> Sides:
    """A three-way merge of texts with its conflicts left open; `seen` is as in Sides. With `close` changes of
    both sides that merely touch are a conflict too, as git has it."""
    return Sides(tuple(_pieces(base, current, other, close=close)), seen)


def _taken(step: Step, keys: Collection[str], *, staged: bool) -> bytes:
    """A step's content after it without some hunks, or for what is staged with those alone."""
    left_out = step.hunks.keys() - keys if staged else keys
    return without(step.before or b"", step.after or b"", set(left_out))


def _pieces(base: bytes, current: bytes, other: bytes, *, close: bool = False) -> list[bytes | Conflict]:
    """As a three-way merge from `base`, with its conflicts left open."""
    lines = split_lines(base), split_lines(current), split_lines(other)
    made: list[bytes | Conflict] = []
    at = 0
    found = regions(changed_spans(lines[0], lines[1]), changed_spans(lines[0], lines[2]))
    for region in _joined(found) if close else found:
        made.append(b"".join(lines[0][at : region.base[0]]))
        at = region.base[1]
        settled = settle(region, *lines)
        if settled is not None:
            made.append(b"".join(settled))
            continue
        spans = (region.current, region.base, region.other)
        parts = (side[slice(*span)] for side, span in zip((lines[1], lines[0], lines[2]), spans, strict=True))
        made.append(Conflict(region.current[0] + 1, *(b"".join(part) for part in parts)))
    return [*made, b"".join(lines[0][at:])]


def _joined(found: Iterator[Region]) -> Iterator[Region]:
    """Regions between which no line of the base is left make one."""
    last: Region | None = None
    for region in found:
        if last is not None and last.base[1] == region.base[0]:
            last = Region(
                (last.base[0], region.base[1]),
                (last.current[0], region.current[1]),
                (last.other[0], region.other[1]),
                last.ours + region.ours,
                last.theirs + region.theirs,
            )
            continue
        if last is not None:
            yield last
        last = region
    if last is not None:
        yield last


def chosen(both: Sides, given: Mapping[str, str]) -> bytes | None:
    """The file as it was chosen in a form: `choice-N` is file, other or hand (`text-N`). None for no file,
    where the other side has none and nothing is left of it."""
    answers = []
    for number, conflict in enumerate(both.conflicts):
        choice = given.get(f"choice-{number}", "file")
        if choice == "hand":
            answers.append(by_hand(given.get(f"text-{number}", ""), conflict))
        else:
            answers.append(conflict.other if choice == "other" else conflict.current)
    content = both.settled(answers)
    return None if both.removed and not content else content


def by_hand(text: str, conflict: Conflict) -> bytes:
    """What a person wrote for a conflict, with the line ends that the file has there."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    around = conflict.current or conflict.other or conflict.base
    if lines and not lines.endswith("\n") and around.endswith(b"\n"):
        lines += "\n"
    if b"\r\n" in around:
        lines = lines.replace("\n", "\r\n")
    return lines.encode()
