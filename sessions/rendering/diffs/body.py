"""The diff of one file as it stands on the page, whole or a piece of it."""

from __future__ import annotations

import stat
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from sessions.changes.diffs.images import image
from sessions.changes.review.comparing import Compared, FileChange, compare, only
from sessions.changes.snapshots.changes import MOVED_IN
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.changes.undo.files import same_kind, same_mode
from sessions.core.models.ledger import shown
from sessions.core.sentences import grouped
from sessions.rendering.diffs.colours import WHOLE
from sessions.rendering.diffs.table import HunkBar, Notes, Problems, Reading, Source, Table, file_mark
from sessions.rendering.html import html

# The body of a file.


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
    keys: Container[str] | None = None,
) -> SafeString:
    """What is said of a file, its images and the table of its diff; for a piece, table bodies only.

    `{base}/review/file?{query}` is the URL that answers with it. `marks` are asked for the hunks shown only,
    which are those of `keys`, if there are any given.
    Blocks; never raises for contents that are missing, binary or too large.
    """
    try:
        found = compare(change, objects, whitespace=reading.whitespace)
    except ObjectMissing:
        return _said(gettext("The content is no longer at hand."))
    if change.skipped:
        if change.skipped == MOVED_IN:
            return _said(gettext("It was there before the command, in a place that no snapshot sees."))
        return _said(gettext("Its content was not kept: %(why)s.") % {"why": gettext(change.skipped)})
    name = shown(change.path)
    colours = _small(found.before), _small(found.after)
    source = Source(name, *colours, found.diff.mixed_ends, notes or {}, problems or {})
    url = f"{base}/review/file?{query}&{reading.query()}"
    diff = found.diff if keys is None else only(found.diff, keys)
    table = Table(diff, reading.view, source, marks, url, mark or file_mark(name))
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


# What is said over the diff of a file: how it changed beyond its lines.


@dataclass(frozen=True, slots=True)
class Picture:
    """One side of an image: where it is shown from, and its size in words."""

    side: str
    url: str
    words: str


def facts(change: FileChange, found: Compared, renamed_from: str) -> Iterator[str]:
    """Sentences, the weightiest first; the old name of a file that was changed too stands in its head."""
    if renamed_from and change.before == change.after:
        yield gettext("Renamed from %(name)s, without changes.") % {"name": renamed_from}
    yield from _kinds(change, found)
    if found.diff.binary:
        yield gettext("Binary file: %(before)s before, %(after)s after.") % {
            "before": size(found.before),
            "after": size(found.after),
        }
    elif found.large:
        yield gettext("Too large to be compared: %(before)s before, %(after)s after.") % {
            "before": size(found.before),
            "after": size(found.after),
        }
    else:
        yield from _texts(change, found)


def is_link(mode: int | None) -> bool:
    return mode is not None and stat.S_ISLNK(mode)


def pictures(change: FileChange, found: Compared, place: str) -> list[Picture]:
    """Both sides where at least one is an image; `place` is the URL images come from, with `{}` for the
    address."""
    sides = ((gettext("Before"), change.before, found.before), (gettext("After"), change.after, found.after))
    shown = []
    for side, oid, content in sides:
        seen = image(content, change.path) if content is not None else None
        if seen and oid:
            pixels = _pixels(seen.width, seen.height) if seen.width else ""
            shown.append(Picture(side, place.format(oid), f"{size(content)}{pixels}"))
    return shown


def _pixels(width: int, height: int) -> str:
    return gettext(", %(width)s × %(height)s pixels") % {
        "width": grouped(width),
        "height": grouped(height),
    }


def size(data: bytes | None) -> str:
    if data is None:
        return gettext("no file")
    if len(data) < 10_000:
        return gettext("%(count)s bytes") % {"count": grouped(len(data))}
    return f"{len(data) / 1000:,.0f} kB"


def _kinds(change: FileChange, found: Compared) -> Iterator[str]:
    """Links and modes."""
    before, after = change.mode_before, change.mode_after
    sides = [
        (mode, data) for mode, data in ((before, found.before), (after, found.after)) if data is not None
    ]
    if any(is_link(mode) for mode, _ in sides):
        first, *then = (_linked(mode, data) for mode, data in sides)
        first = first[:1].upper() + first[1:]
        if then:
            yield gettext("%(before)s became %(after)s.") % {"before": first, "after": then[0]}
        else:
            yield (gettext("%(what)s.") if change.after else gettext("%(what)s, removed.")) % {"what": first}
    elif len(sides) > 1 and before is not None and after is not None and not same_mode(before, after):
        words = gettext("Mode %(before)s became %(after)s.")
        if not same_kind(before, after) and after & 0o100:
            words = gettext("Mode %(before)s became %(after)s: executable.")
        elif not same_kind(before, after):
            words = gettext("Mode %(before)s became %(after)s: no longer executable.")
        yield words % {"before": f"{stat.S_IMODE(before):o}", "after": f"{stat.S_IMODE(after):o}"}
    elif len(sides) == 1 and change.after and after is not None and after & 0o100:
        yield gettext("Executable.")


def _linked(mode: int | None, content: bytes) -> str:
    if not is_link(mode):
        return gettext("a file")
    return gettext("link → %(target)s") % {"target": content.decode("utf-8", "replace")}


def _texts(change: FileChange, found: Compared) -> Iterator[str]:
    if any(is_link(mode) for mode in (change.mode_before, change.mode_after)):
        return
    ends = [_line_ends(content) for content in (found.before, found.after) if content]
    if len(ends) == 2 and ends[0] != ends[1] and all(ends):
        yield gettext("Line ends: %(before)s became %(after)s.") % {"before": ends[0], "after": ends[1]}
    elif "CRLF" in ends and len(set(ends)) == 1:
        yield gettext("Line ends: CRLF.")
    if any(not _is_utf8(content) for content in (found.before, found.after) if content):
        yield gettext("Not all of it is UTF-8: other bytes are shown as %(mark)s.") % {"mark": "\ufffd"}
    if not found.diff.hunks and found.diff.hidden:
        count = len(found.diff.hidden)
        words = ngettext(
            "%(count)s hunk changes nothing but white space, not shown.",
            "%(count)s hunks change nothing but white space, not shown.",
            count,
        )
        yield words % {"count": count}
    elif not found.diff.hunks and not found.before and not found.after:
        yield gettext("The file is empty.")


def _line_ends(content: bytes) -> str:
    """Empty for a text without any."""
    returns, feeds = content.count(b"\r\n"), content.count(b"\n")
    if not feeds:
        return ""
    return "LF" if not returns else "CRLF" if returns == feeds else "CRLF and LF"


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
