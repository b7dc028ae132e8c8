"""The diffs of one file, one for each step of it, with the bars over their hunks."""

from __future__ import annotations

from urllib.parse import urlencode

from django.utils.safestring import SafeString

from sessions.comments.notes import notes
from sessions.diffs.hunks import Hunk
from sessions.review.display.bars import NOTHING_TOLD, Bars, Told
from sessions.review.marking import digest
from sessions.review.reading.body import file_body
from sessions.review.reading.comparing import compare
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
            body = file_body(
                judged.change,
                objects,
                reading,
                base=base,
                query=f"{found.scope.query()}&{urlencode({'path': file.key, 'step': number})}",
                marks=Bars(file, judged, _hunks(judged.change, objects), marks, told, staged=staged),
                notes=notes(marks.comments.get(file.path, ()), judged.before, judged.after, base),
                renamed_from=file.renamed_from,
                mark=f"{digest(file.key)}-{number}",
            )
            made.append(body)
    return tuple(made)


def _hunks(change: Change, objects: ObjectStore) -> tuple[Hunk, ...]:
    try:
        return compare(change, objects).diff.hunks
    except ObjectMissing:
        return ()
