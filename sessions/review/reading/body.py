"""The diff of one file as it stands on the page, whole or a piece of it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.safestring import SafeString

from sessions.models.ledger import shown
from sessions.rendering.html import html
from sessions.snapshots.objects import ObjectMissing, ObjectStore

from .colours import WHOLE
from .comparing import Compared, FileChange, compare
from .facts import facts, is_link, pictures
from .lines import Notes, Problems, Source
from .query import Reading
from .table import HunkBar, Table, file_mark


def file_body(
    change: FileChange,
    objects: ObjectStore,
    reading: Reading,
    *,
    base: str,
    query: str,
    marks: Mapping[str, HunkBar] | None = None,
    notes: Notes | None = None,
    problems: Problems | None = None,
    renamed_from: str = "",
    mark: str = "",
) -> SafeString:
    """What is said of a file, its images and the table of its diff; for a piece, table bodies only.

    `{base}/review/file?{query}` is the URL that answers with it. `marks` are asked for the hunks shown only.
    Blocks; never raises for contents that are missing, binary or too large.
    """
    try:
        found = compare(change, objects, whitespace=reading.whitespace)
    except ObjectMissing:
        return _said("The content is no longer at hand.")
    if change.skipped:
        return _said(f"The content was not kept: {change.skipped}.")
    name = shown(change.path)
    colours = _small(found.before), _small(found.after)
    source = Source(name, *colours, found.diff.mixed_ends, notes or {}, problems or {})
    url = f"{base}/review/file?{query}&{reading.query()}"
    table = Table(found.diff, reading.view, source, marks, url, mark or file_mark(name))
    if reading.piece:
        return _piece(table, reading)
    said = list(facts(change, found, shown(renamed_from)))
    images = pictures(change, found, f"{base}/review/image/{{}}?{query}")
    rows = table.whole().table if _has_lines(change, found) else ""
    return html("review/reading.html", facts=said, pictures=images, table=rows)


def _piece(table: Table, reading: Reading) -> SafeString:
    return table.rows(*reading.rows) if reading.rows else table.gap(*reading.gap or (0, 0), reading.take)


def _has_lines(change: FileChange, found: Compared) -> bool:
    """A link has a target, which is said; it has no lines."""
    return bool(found.diff.hunks) and not any(
        is_link(mode) for mode in (change.mode_before, change.mode_after)
    )


def _said(text: str) -> SafeString:
    return html("review/reading.html", facts=[text])


def _small(content: bytes | None) -> str | None:
    """The whole text for the colours, of a file small enough to be read from its start."""
    return None if content is None or len(content) > WHOLE else content.decode("utf-8", "replace")
