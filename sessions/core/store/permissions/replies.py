"""What a person may answer with, checked before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext

from sessions.core.models import PermissionRequest, Session
from sessions.core.sentences import grouped
from sessions.core.store.prompters import prompters
from sessions.core.wire.patterns import matches

from .scopes import MOST_MINUTES, SCOPES

REPLIES: Final = ("once", "always", "reject")
MOST_PATTERNS: Final = 20
MOST_PATTERN: Final = 500
MOST_REPLACED: Final = 10_000_000
"""Characters of all texts that are put in place of a proposal."""


class ReplyRefused(Exception):
    """This answer cannot be taken; the text is for the person who gave it."""


class StaleReply(ReplyRefused):
    """The answer is to something else than what waits now."""


class BadPattern(ReplyRefused):
    """A pattern that the person wrote cannot become a rule."""


class BadReplacement(ReplyRefused):
    """What the person put in place of a proposal does not belong to it."""


class OfTheSame(ReplyRefused):
    """Two people are wanted, and it is the one who prompted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person says to a request; `reply` is OpenCode's: once, always or reject.

    `hash` is that of the request they saw (empty: not told). With `always`, `scope` says how far it reaches,
    `minutes` how long, `patterns` for what (None: as the request offers). `replacement` has contents by path.
    """

    reply: str
    words: str = ""
    hash: str = ""
    scope: str = "project"
    minutes: int = 0
    patterns: Sequence[str] | None = None
    replacement: Mapping[str, str | None] = field(default_factory=dict)
    actor: str = ""

    def __post_init__(self) -> None:
        if self.reply not in REPLIES:
            raise ValueError(f"a reply is one of {', '.join(REPLIES)}, not {self.reply!r}")
        if self.scope not in SCOPES:
            raise ValueError(f"a scope is one of {', '.join(SCOPES)}, not {self.scope!r}")
        if self.scope == "minutes" and not 1 <= self.minutes <= MOST_MINUTES:
            raise ValueError(f"minutes are 1 to {MOST_MINUTES}, not {self.minutes}")

    @property
    def state(self) -> str:
        """What the request becomes."""
        return "once" if self.reply == "always" and self.scope == "once" else self.reply

    def check(self, row: PermissionRequest) -> None:
        """Raises ReplyRefused when it does not fit the request."""
        if self.hash and self.hash != row.arguments_hash:
            raise StaleReply(
                gettext("This is not what waits now: the request has changed. Look at it again.")
            )
        if self.patterns is not None and self.state == "always":
            _check_patterns(row, self.patterns)
        if self.replacement:
            _check_replacement(row, self.reply, self.replacement)


def check_another(session: Session, message_id: str, actor: str) -> None:
    """Raises OfTheSame where two people are wanted, and one of them would allow what their own prompt led to
    in the turn of that answer (empty: the last one)."""
    if settings.TWO_PEOPLE and actor in prompters(session, message_id):
        raise OfTheSame(gettext("You sent the prompt that led to this: another person has to allow it."))


def proposed_paths(metadata: Mapping[str, Any]) -> set[str]:
    """The files that a request to edit shows a proposal for, as it names them."""
    files = metadata.get("files")
    named = files if isinstance(files, list) else [metadata] if "diff" in metadata else []
    return {str(file["filepath"]) for file in named if isinstance(file, dict) and file.get("filepath")}


def _check_patterns(row: PermissionRequest, patterns: Sequence[str]) -> None:
    if not row.always:
        raise BadPattern(gettext("This can only be allowed once."))
    if not patterns:
        raise BadPattern(gettext("There is no pattern to allow."))
    if len(patterns) > MOST_PATTERNS:
        raise BadPattern(
            gettext("There can be %(most)s patterns, not %(count)s.")
            % {"most": MOST_PATTERNS, "count": len(patterns)}
        )
    for pattern in patterns:
        if not pattern.strip() or len(pattern) > MOST_PATTERN:
            raise BadPattern(gettext("A pattern has 1 to %(most)s characters.") % {"most": MOST_PATTERN})
        if not pattern.isprintable():
            raise BadPattern(gettext("A pattern cannot have control characters or line breaks."))
        if not any(matches(pattern, asked) for asked in row.patterns):
            raise BadPattern(
                gettext("“%(pattern)s” does not match what is asked for here.") % {"pattern": pattern}
            )


def _check_replacement(row: PermissionRequest, reply: str, replacement: Mapping[str, str | None]) -> None:
    if reply == "reject":
        raise BadReplacement(gettext("A change that is rejected cannot be edited."))
    known = proposed_paths(row.metadata) if row.permission == "edit" else set()
    if strange := next((path for path in replacement if path not in known), None):
        raise BadReplacement(gettext("No change of %(strange)s was proposed.") % {"strange": strange})
    texts = [text for text in replacement.values() if text is not None]
    if sum(map(len, texts)) > MOST_REPLACED:
        raise BadReplacement(
            gettext("The edited text is too long: it may have %(most)s characters.")
            % {"most": grouped(MOST_REPLACED)}
        )
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise BadReplacement(gettext("The edited text has half a character (a lone surrogate).")) from error
