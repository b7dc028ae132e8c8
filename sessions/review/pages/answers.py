"""The answer to a verdict or a mark: the blocks of the files it was given on, their rows, totals, a note.

The panel puts each piece where the one with its id is (static/js/review-merge.js), so what else is open,
typed or scrolled to stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse

from sessions.db import in_db
from sessions.models import Operation
from sessions.pages.respond import fragment
from sessions.review.conflicts import sides
from sessions.review.display.bars import Told
from sessions.review.display.blocks import blocks
from sessions.review.display.files import FileRow, file_id, file_row, file_rows, totals
from sessions.review.display.settling import settle_form
from sessions.review.display.tree import tree_row
from sessions.review.verdicts.listing import Listing, listing
from sessions.store import marks

from .asked import Asked
from .respond import base


async def answered(
    shown: Asked,
    keys: Sequence[str],
    operation: Operation | None = None,
    note: str = "",
    outcome: Sequence[Mapping[str, Any]] = (),
) -> HttpResponse:
    """The files named by `keys` as they are now; `operation` is the verdict that was just given on them,
    `outcome` what came of one that changed nothing."""
    session = shown.session
    found = await listing(session, shown.scope)
    given = await in_db(marks.of_session, session.id)
    fresh = Asked(session, shown.scope, shown.reading, found, given)
    rows = await asyncio.to_thread(_rows, fresh, keys, operation.outcome if operation else outcome)
    every = await asyncio.to_thread(file_rows, found, given, shown.reading, base(session), bare=True)
    return fragment(
        "review/answer.html",
        base=base(session),
        files=blocks(rows, staged=shown.staged),
        rows=[tree_row(file) for file in rows],
        gone=[file_id(key) for key in keys if found.file(key) is None],
        total=totals(every),
        note=note,
        operation=operation,
    )


def _rows(shown: Asked, keys: Sequence[str], outcome: Sequence[Mapping[str, Any]]) -> list[FileRow]:
    chosen = [file for key in keys if (file := shown.found.file(key)) is not None]
    return [
        file_row(
            file,
            shown.found,
            shown.marks,
            shown.reading,
            base(shown.session),
            _told(shown.found, file.key, outcome),
        )
        for file in chosen
    ]


def _told(found: Listing, key: str, outcome: Sequence[Mapping[str, Any]]) -> Told:
    """What came of a verdict for the hunks of one file."""
    entry = next((one for one in outcome if one["path"] == key), None)
    file = found.file(key)
    if entry is None or file is None:
        return Told()
    outcomes = entry.get("hunks", {})
    conflicts = [pick for pick, outcome in outcomes.items() if outcome == "conflict"]
    offered = {pick: chosen for pick in conflicts if (chosen := sides(file, found, pick)) is not None}
    staged = found.scope.kind == "staged"
    forms = {pick: settle_form(file_id(key), pick, chosen, staged=staged) for pick, chosen in offered.items()}
    return Told(outcomes, entry.get("reason", ""), forms)
