"""What is looked at: a call, a turn, all from a message on, a session, a project, the working tree against
git, what is staged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, cast, get_args
from urllib.parse import urlencode

from django.db.models import Q

from sessions.changes.snapshots.changes import Change
from sessions.core.models import FileChange, Session, StagedFile
from sessions.core.store import children, ledger, summary, turns
from sessions.core.store.ledger import Point

Kind = Literal["call", "turn", "from", "session", "project", "git", "staged"]


@dataclass(frozen=True, slots=True)
class Scope:
    """`message` is a prompt's or an answer's (turn; empty: the last prompt), `part` a tool call's (call).
    With `from` they are where something begins: what was done from that message, or part, on.
    """

    kind: Kind = "session"
    message: str = ""
    part: str = ""

    @classmethod
    def asked(cls, query: Mapping[str, str]) -> Scope:
        """From `scope`, `message` and `part` of a query; anything unknown is the session."""
        kind = query.get("scope", "")
        if kind not in get_args(Kind) or (kind == "call" and not query.get("part")):
            return cls()
        message, part = query.get("message", ""), query.get("part", "")
        return cls(
            cast(Kind, kind),
            message if kind in ("call", "turn", "from") else "",
            part if kind in ("call", "from") else "",
        )

    def wire(self) -> dict[str, str]:
        """As it is kept with an operation."""
        return {key: value for key, value in asdict(self).items() if value}

    def query(self) -> str:
        """For a URL; `asked` reads it back."""
        return urlencode({"scope": self.kind, **{k: v for k, v in self.wire().items() if k != "kind"}})


def entries(session: Session, scope: Scope) -> list[FileChange]:
    """The ledger's entries of a scope, oldest first: what tools and subagents did and no undo of the
    conversation took back. Verdicts are not among them: whether a hunk is still there, its file says.
    """
    rows = FileChange.objects.filter(operation=None, undone_by=None).select_related("session")
    if scope.kind == "project":
        found = rows.filter(project_id=session.project_id, session__time_deleted=None)
    elif scope.kind == "call":
        found = rows.filter(_own(session, part_id=scope.part) | _below(session, for_part_id=scope.part))
    elif scope.kind == "turn":
        found = rows.filter(_turn(session, scope.message))
    elif scope.kind == "from":
        found = rows.filter(pk__in=ledger.since(session.id, Point(scope.message, scope.part)))
    else:
        found = rows.filter(_own(session) | _below(session))
    return list(found.order_by("id"))


def staged(session: Session) -> list[Change]:
    """What waits in review mode, of the session and its subagents: the topmost session has the rows."""
    rows = StagedFile.objects.filter(session_id__in=children.roots([session.id])).order_by("path")
    return [staged_change(row) for row in rows]


def staged_change(row: StagedFile) -> Change:
    """A staged edit as if it had been made."""
    return Change(row.path, row.base or None, row.content or None, row.mode_base, row.mode)


def _turn(session: Session, message: str) -> Q:
    point = ledger.locate(session.id, message or turns.last_prompt(session.id))
    if point is None:
        return Q(pk=None)
    since, end = point.message_id, summary.next_prompt(session.id, point.message_id)
    own, below = {"message_id__gte": since}, {"for_message_id__gte": since}
    if end:
        own["message_id__lt"] = below["for_message_id__lt"] = end
    return _own(session, **own) | _below(session, **below)


def _own(session: Session, **rest: str) -> Q:
    return Q(session_id=session.id, **rest)


def _below(session: Session, **rest: str) -> Q:
    return Q(for_session_id=session.id, **rest)
