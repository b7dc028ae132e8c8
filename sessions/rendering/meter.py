"""The meter beside the prompt: how full the model's context window is, what fills it, what was spent.

What fills it is estimated by kind and scaled to what the provider counted (written by the agents with each
step into the session's `window`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.above import agents
from sessions.core.models import Message, Session
from sessions.core.store import children, context, pins

from .html import html

KINDS = {
    "system": gettext_noop("System prompt"),
    "instructions": gettext_noop("Instructions and surroundings"),
    "pinned": gettext_noop("Pinned"),
    "tools": gettext_noop("Tools"),
    "messages": gettext_noop("Messages"),
    "outputs": gettext_noop("Tool output"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One kind of content: tokens, and where its piece of the bar begins and ends in percent."""

    kind: str
    label: str
    tokens: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Gauge:
    """Tokens; `window` is 0 when nobody knows it. `mark` is where the reserve begins, in percent."""

    used: int
    window: int
    reserved: int
    pieces: tuple[Piece, ...]

    @property
    def mark(self) -> float:
        return 100 * (self.window - self.reserved) / self.window if self.window else 100

    @property
    def free(self) -> int:
        return max(self.window - self.reserved - self.used, 0)

    @property
    def over(self) -> bool:
        """Whether a provider took more than what is known of the window."""
        return 0 < self.window < self.used

    @property
    def tight(self) -> bool:
        """Whether the next step may have to be preceded by a compaction."""
        return bool(self.window) and self.free < self.window // 10


def meter(session: Session, *, oob: bool = True) -> str:
    below = children.spent_below(session.id)
    return html(
        "composer/meter.html", session=session, gauge=gauge(session), total=session.cost + below, oob=oob
    )


def gauge(session: Session) -> Gauge:
    """As of the last step that is not undone."""
    rows = Message.objects.filter(session_id=session.id, role="assistant", data__tokens__output__gt=0)
    if session.revert:
        rows = rows.filter(id__lt=session.revert["messageID"])
    last = rows.order_by("-id").first()
    if last is None:
        return Gauge(0, 0, 0, ())
    known: Mapping[str, Any] = session.window
    if known.get("message") == last.id:
        used, window = int(known["used"]), int(known["window"])
    else:
        used = _counted(last.data["tokens"])
        window = agents().context_window(last.data["providerID"], last.data["modelID"]) or int(
            known.get("window", 0)
        )
    estimated = {kind: int(known.get(kind, 0)) for kind in KINDS}
    _set_apart(session.id, last.time_created, estimated)
    return Gauge(used, window, min(int(known.get("reserved", 0)), window), _pieces(estimated, used, window))


def _set_apart(session_id: str, moment: int, estimated: dict[str, int]) -> None:
    """What is pinned, of the kinds that it was estimated with by the step of this moment."""
    rows = [row for row in pins.overview(session_id) if row.time_created <= moment]
    epoch = context.epoch(session_id) if rows else None
    for row in rows:
        kind = "instructions" if epoch and row.id in epoch.baseline else "messages"
        tokens = min(row.tokens, estimated[kind])
        estimated[kind] -= tokens
        estimated["pinned"] += tokens
    if not rows:
        del estimated["pinned"]


def _pieces(estimated: Mapping[str, int], used: int, window: int) -> tuple[Piece, ...]:
    """The estimates by kind, scaled to the tokens that were counted."""
    total = sum(estimated.values())
    found: list[Piece] = []
    start = 0.0
    for kind, tokens in estimated.items() if total else ():
        scaled = tokens * used / total
        width = 100 * scaled / max(window, used, 1)
        found.append(Piece(kind, gettext(KINDS[kind]), round(scaled), round(start, 2), round(width, 2)))
        start += width
    return tuple(found)


def _counted(tokens: Mapping[str, Any]) -> int:
    cache = tokens.get("cache") or {}
    kinds = [tokens.get(kind) for kind in ("input", "output", "reasoning")]
    return sum(count or 0 for count in [*kinds, cache.get("read"), cache.get("write")])
