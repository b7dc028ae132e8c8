"""The words of this room: what a session's timeline consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from django.utils.translation.trans_null import gettext_noop

Kind = Literal["turn", "edit", "undo", "ask", "agent", "ending", "compaction", "fork"]


@dataclass(frozen=True, slots=True)
class KindWords:
    """How a kind is named in the filter, and drawn."""

    plural: str
    icon: str


KINDS: Final[dict[Kind, KindWords]] = {
    "turn": KindWords(gettext_noop("Turns"), "send"),
    "edit": KindWords(gettext_noop("Edits"), "edit"),
    "undo": KindWords(gettext_noop("Undo and keep"), "undo"),
    "ask": KindWords(gettext_noop("Permissions and questions"), "shield"),
    "agent": KindWords(gettext_noop("Subagents"), "spark"),
    "ending": KindWords(gettext_noop("Stops and crashes"), "alert"),
    "compaction": KindWords(gettext_noop("Compactions"), "list"),
    "fork": KindWords(gettext_noop("Forks"), "fork"),
}


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a moment wrote, with addresses of the contents (empty: no file) or counts known before."""

    path: str
    before: str = ""
    after: str = ""
    note: str = ""
    additions: int | None = None
    deletions: int | None = None


@dataclass(slots=True)
class Moment:
    """One thing that happened.

    `key` is unique in a session and fit for element ids. `title` says what in a few words of ours; `detail`
    is text of people, models or tools, so it is hostile. `message` is where it is in the conversation, `url`
    leads to another session. `change` is the last ledger entry up to it, 0 before the first: what the files
    were then. `took` is milliseconds, `tone` is empty or `warn`.
    """

    key: str
    kind: Kind
    time: int
    title: str
    detail: str = ""
    note: str = ""
    message: str = ""
    part: str = ""
    url: str = ""
    change: int = 0
    took: int | None = None
    cost: float = 0.0
    tone: str = ""
    files: list[Touched] = field(default_factory=list)
