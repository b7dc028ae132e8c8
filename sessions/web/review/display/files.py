"""What the review panel says of each file of a scope: its state, its marks, its diffs with their bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.safestring import SafeString

from sessions.changes.diffs.hunks import FileDiff
from sessions.changes.review.comparing import compare
from sessions.changes.review.marking import by_file, digest, file_mark, seal
from sessions.changes.review.verdicts import Listing, ReviewedFile, judge
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.core.models.ledger import shown
from sessions.core.store.marks import Marks
from sessions.rendering.diffs.body import file_body
from sessions.rendering.diffs.table import Problems, Reading
from sessions.web.comments.notes import notes
from sessions.web.problems.deltas import Delta, delta, turned_by
from sessions.web.problems.marks import marks as problem_marks
from sessions.web.review.display.bars import NOTHING_TOLD, Bars, Told
from sessions.web.review.display.undoing import FILE_STATES


def bodies(
    file: ReviewedFile,
    found: Listing,
    marks: Marks,
    reading: Reading,
    base: str,
    told: Told = NOTHING_TOLD,
    *,
    step: int | None = None,
) -> tuple[SafeString, ...]:
    """Each step, or one of them; for a piece, table rows only. Never raises for contents that are missing,
    binary or too large. Blocks.
    """
    made = []
    objects, staged = found.project.objects, found.scope.kind == "staged"
    for number, judged in enumerate(judge(file, found)):
        if step in (None, number):
            diff, place = _diff(judged.change, objects), f"{digest(file.key)}-{number}"
            body = file_body(
                judged.change,
                objects,
                reading,
                base=base,
                query=f"{found.scope.query()}&{urlencode({'path': file.key, 'step': number})}",
                marks=Bars(file, judged, diff.hunks, marks, told, staged=staged),
                notes=notes(marks.comments.get(file.path, ()), judged.before, judged.after, base),
                problems=_problems(file, judged.change, found, diff, place),
                renamed_from=file.renamed_from,
                mark=place,
            )
            made.append(body)
    return tuple(made)


def _problems(file: ReviewedFile, change: Change, found: Listing, diff: FileDiff, place: str) -> Problems:
    after = found.problems.get((change.path, change.after)) if change.after else None
    turn = turned_by(change, file.renamed_from or change.path, found.problems, found.project.objects)
    return problem_marks(change.path, after, turn, diff, place)


def _diff(change: Change, objects: ObjectStore) -> FileDiff:
    try:
        return compare(change, objects).diff
    except ObjectMissing:
        return FileDiff()


OPEN_FILES = 5
OPEN_ROWS = 500
"""How many files, with how many changed lines in all, come with their diff; the others load as they are
seen."""

_STATUS = {
    "added": ("A", "New file"),
    "deleted": ("D", "Deleted"),
    "modified": ("M", "Changed"),
    "renamed": ("R", "Renamed"),
}


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of the panel.

    `id` names its element, `key` it in requests; `tag` says in words how it stands with it, `tone` picks the
    colour of that. `version` changes when anything shown of it does, `drawn` names what the scope did to it.
    `delta` are the problems that came and went, None where that is not known. `bodies` is None where it loads
    later.
    """

    id: str
    key: str
    name: str
    letter: str
    word: str
    tag: str
    tone: str
    since: str
    renamed_from: str
    additions: int
    deletions: int
    kept: bool
    viewed: bool
    undone: bool
    version: str
    drawn: str
    delta: Delta | None = None
    bodies: tuple[SafeString, ...] | None = None

    @property
    def rows(self) -> int:
        """About as many as its diff will be high: a new or deleted file has a bar over its lines, another has
        lines around its changes too."""
        return min(self.additions + self.deletions + (2 if self.letter in "AD" else 8), 200)

    @property
    def gone(self) -> bool:
        """Nothing of it is there any more."""
        return self.tone in ("gone", "missing")

    @property
    def open(self) -> bool:
        """Whether it can be undone."""
        return not self.kept and not self.gone

    @property
    def redo(self) -> bool:
        """Whether something of it was undone here."""
        return self.undone and self.tone in ("gone", "missing", "partly", "changed")

    @property
    def folded(self) -> bool:
        return self.viewed or self.kept


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all files of a scope."""

    files: int
    additions: int
    deletions: int
    viewed: int
    undone: int
    delta: Delta

    @property
    def left(self) -> int:
        """Files that something can be undone of."""
        return self.files - self.undone


def file_rows(
    found: Listing, marks: Marks, reading: Reading, base: str, *, bare: bool = False
) -> list[FileRow]:
    """The files of a scope, the first ones with their diff; none with `bare`."""
    own = by_file(marks)
    undone = {key for key, _ in found.undone}
    rows: list[FileRow] = []
    room = OPEN_ROWS
    for number, file in enumerate(found.files):
        size = file.additions + file.deletions
        row = _row(file, found, marks, reading, own.get(digest(file.key), []), undone=file.key in undone)
        if not bare and number < OPEN_FILES and size <= room and not row.folded:
            room -= size
            row = replace(row, bodies=bodies(file, found, marks, reading, base))
        rows.append(row)
    return rows


def file_row(
    file: ReviewedFile,
    found: Listing,
    marks: Marks,
    reading: Reading,
    base: str,
    told: Told = NOTHING_TOLD,
) -> FileRow:
    """One file with its diff, and what came of the verdict just given on it."""
    undone = any(key == file.key for key, _ in found.undone)
    row = _row(file, found, marks, reading, by_file(marks).get(digest(file.key), []), undone=undone)
    return replace(row, bodies=bodies(file, found, marks, reading, base, told))


def totals(rows: Sequence[FileRow]) -> Totals:
    return Totals(
        files=len(rows),
        additions=sum(row.additions for row in rows),
        deletions=sum(row.deletions for row in rows),
        viewed=sum(row.viewed for row in rows),
        undone=sum(row.gone for row in rows),
        delta=sum((row.delta for row in rows if row.delta), Delta()),
    )


def file_id(key: str) -> str:
    return f"file-{digest(key)}"


def _row(
    file: ReviewedFile, found: Listing, marks: Marks, reading: Reading, own: Sequence[str], *, undone: bool
) -> FileRow:
    mark = file_mark(file)
    letter, word = _STATUS[file.status]
    kept = mark in marks.kept and file.state in ("here", "partly", "changed")
    gone = undone and file.state in ("gone", "missing")
    comments = marks.comments.get(file.path, ())
    said = [(one.comment.id, one.comment.time_updated, one.state) for one in comments]
    there = (file.state, file.mark, file.additions, file.deletions, file.others, undone)
    known = [found.problems.get(place) for place in file.places]
    return FileRow(
        id=file_id(file.key),
        key=file.key,
        name=shown(file.path),
        letter=letter,
        word=word,
        tag="Kept" if kept else "Undone" if gone else FILE_STATES[file.state],
        tone="kept" if kept else file.state,
        since=_since(file.others),
        renamed_from=shown(file.renamed_from) if file.renamed_from else "",
        additions=file.additions,
        deletions=file.deletions,
        kept=kept,
        viewed=mark in marks.viewed,
        undone=undone,
        version=digest(repr((there, own, said, known, reading.query()))),
        drawn=" ".join(map(seal, file.whole)),
        delta=_delta(file, found) if file.state in ("here", "changed") else None,
    )


def _delta(file: ReviewedFile, found: Listing) -> Delta | None:
    objects, known = found.project.objects, found.problems
    if not known:
        return None
    return delta(turned_by(step, file.renamed_from or step.path, known, objects) for step in file.steps)


def _since(others: Sequence[str]) -> str:
    """Who has changed the file since, as one sentence."""
    if not others:
        return ""
    *most, last = others
    return f"Changed since by {', '.join(most)} and {last}" if most else f"Changed since by {last}"
