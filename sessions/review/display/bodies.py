"""The diffs of one file, one for each step of it, with the bars over their hunks."""

from __future__ import annotations

from urllib.parse import urlencode

from django.utils.safestring import SafeString

from sessions.comments.notes import notes
from sessions.diffs.hunks import FileDiff
from sessions.problems.deltas import turned_by
from sessions.problems.marks import marks as problem_marks
from sessions.review.display.bars import NOTHING_TOLD, Bars, Told
from sessions.review.marking import digest
from sessions.review.reading.body import file_body
from sessions.review.reading.comparing import compare
from sessions.review.reading.lines import Problems
from sessions.review.reading.query import Reading
from sessions.review.verdicts.judging import judge
from sessions.review.verdicts.listing import Listing, ReviewedFile
from sessions.snapshots.changes import Change
from sessions.snapshots.objects import ObjectMissing, ObjectStore
from sessions.store.marks import Marks


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
