"""Permission requests as cards: what exactly the agent wants to do, and what each answer means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString
from django.utils.translation import gettext

from sessions.changes.diffs.hunks import FileDiff, Hunk
from sessions.core.models import PermissionRequest, Session
from sessions.core.store import permissions
from sessions.core.text import visible
from sessions.rendering.children import origin
from sessions.rendering.diffs.table import show
from sessions.rendering.html import html

from .kinds import Details, details
from .proposals import Proposal, proposals

MOST_ROWS = 2000
"""Rows of a proposed change that are shown at once; the rest has to be unfolded before it can be allowed."""
MORE = 5
"""Times as many with each unfolding."""
COLOURED_WHOLE = 12_000
"""Characters of both texts up to which they are coloured as a whole: this runs on the ORM's thread."""

INBOX = "inbox-"
"""What the ids of a card begin with in the inbox: the same request may be on the page itself."""


@dataclass(frozen=True, slots=True)
class ShownHunk:
    """`key` is empty for a hunk that cannot be allowed by itself; `hidden` of its `rows` are not shown."""

    key: str
    words: str
    table: SafeString
    rows: int
    hidden: int


@dataclass(frozen=True, slots=True)
class ShownFile:
    """What `templates/approvals/file.html` shows."""

    number: int
    name: str
    happens: str
    additions: int
    deletions: int
    hunks: tuple[ShownHunk, ...]
    editable: bool
    text: str = ""
    """The patch as it came, where it cannot be read."""
    apart: bool = False
    """Whether its contents have to be loaded first."""
    more: int = 0
    """Rows to ask for, to see more than are shown; 0 where nothing is left."""
    hidden: int = 0
    """Rows that are not shown."""


@dataclass(frozen=True, slots=True)
class Card:
    """What `templates/approvals/card.html` shows. `key` is the id of its element, `rules` what "allow" would
    save, `again` that it is proposed anew because the file changed."""

    id: str
    key: str
    call_id: str
    hash: str
    permission: str
    told: Details
    files: tuple[ShownFile, ...]
    rules: Sequence[str]
    origin: str
    asked: int
    """When, in milliseconds since 1970."""
    project: str
    again: bool

    @property
    def hunks(self) -> int:
        """How many can be allowed by themselves."""
        return sum(bool(hunk.key) for file in self.files for hunk in file.hunks)

    @property
    def folded(self) -> bool:
        """Whether something has to be unfolded before this can be allowed."""
        return bool(self.told.rest) or any(file.apart or file.more for file in self.files)


def permission_list(session: Session, *, oob: bool = True) -> str:
    """What the agent asks, of this session and of those it started."""
    cards = [card(row, session) for row in permissions.pending_below(session.id)]
    return html("approvals/list.html", cards=cards, session=session, oob=oob)


def card(row: PermissionRequest, session: Session | None = None, place: str = "") -> Card:
    """One request as the page of a session shows it (its own, or one above it), or the inbox."""
    files = proposals(row)
    told = details(row, row.session.project.worktree)
    if len(files) > 1:
        told = replace(told, title=gettext("Change these files?"), subject="")
    return Card(
        id=row.id,
        key=f"{place}{row.id}",
        call_id=row.call_id,
        hash=row.arguments_hash,
        permission=visible(row.permission),
        told=told,
        files=tuple(shown_files(files)),
        rules=[visible(pattern) for pattern in row.always],
        origin=origin(row.session, session),
        asked=row.time_created,
        project=row.session.project_id,
        again=bool(row.metadata.get("again")),
    )


def shown_files(files: Sequence[Proposal], room: int = MOST_ROWS) -> Iterator[ShownFile]:
    """At most so many rows of all files together."""
    parts = has_parts(files)
    for file in files:
        shown = shown_file(file, room, parts)
        room = max(0, room - sum(hunk.rows for hunk in shown.hunks))
        yield shown


def has_parts(files: Sequence[Proposal]) -> bool:
    """Whether some hunks may be allowed without the others: of one hunk there is no part."""
    return sum(len(file.keys) or 1 for file in files) > 1


def shown_file(file: Proposal, room: int = MOST_ROWS, pickable: bool = True) -> ShownFile:
    if file.apart and not file.known:
        return ShownFile(file.number, file.name, file.happens, 0, 0, (), False, apart=True)
    diff = file.diff
    keys = file.keys if pickable else []
    shown = []
    for hunk in diff.hunks:
        shown.append(_hunk(file, hunk, room, hunk.key if hunk.key in keys else ""))
        room = max(0, room - len(hunk.rows))
    text = "" if diff.hunks or file.known else visible(file.patch)
    hidden = sum(hunk.hidden for hunk in shown)
    here = sum(hunk.rows for hunk in shown) - hidden
    return ShownFile(
        file.number,
        file.name,
        file.happens,
        diff.additions,
        diff.deletions,
        tuple(shown),
        file.editable,
        text,
        more=max(MOST_ROWS, MORE * here) if hidden else 0,
        hidden=hidden,
    )


def _hunk(file: Proposal, hunk: Hunk, room: int, key: str) -> ShownHunk:
    """Each is a table of its own, so that its box stands above it."""
    whole = len(file.before or "") + len(file.after or "") <= COLOURED_WHOLE
    first = replace(
        hunk, new_start=min(1, hunk.new_count)
    )  # so that the table says nothing of lines before it
    alone = FileDiff((first,), mixed_ends=file.diff.mixed_ends)
    before, after = (file.before, file.after) if whole else (None, None)
    table = show(alone, file.name, "unified", before=before, after=after, limit=room, uncut=True)
    last = max(hunk.new_start, hunk.new_start + hunk.new_count - 1)
    lines = (
        gettext("Line %(last)s") % {"last": last}
        if last == hunk.new_start
        else gettext("Lines %(first)s–%(last)s") % {"first": hunk.new_start, "last": last}
    )
    return ShownHunk(key, lines, table.table, len(hunk.rows), table.left_out)
