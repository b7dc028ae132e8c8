"""What steps cost, with part, message and the session's sums in one transaction, and what else was spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from sessions.core.ids import ascending
from sessions.core.models import FileChange, Part
from sessions.core.models.ledger import shown
from sessions.core.prepared import Prepared
from sessions.core.wire.base import Tokens
from sessions.core.wire.messages import AssistantMessage
from sessions.core.wire.parts import Part as WirePart
from sessions.core.wire.parts import PatchPart, StepFinishPart

from . import events, messages, quotas
from . import sessions as session_store


def step_finished(
    message: AssistantMessage,
    part: StepFinishPart,
    filling: dict[str, Any] | None = None,
    *,
    said: Sequence[WirePart] = (),
    called: bool = True,
) -> None:
    """Record the end of a provider turn, the files it changed (none where nothing was `called`) and what was
    `said` last. Tokens of the session are sums; its cost is in US dollars; `filling` is what the context
    window holds now, as `rendering/meter.py` reads it."""
    with events.together():
        messages.put_parts([*said, part])
        messages.put_message(message)
        if called:
            put_patch(message)
        columns = {} if filling is None else {"window": filling}
        spent(message.session_id, part.tokens, part.cost, **columns)


def spent(session_id: str, tokens: Tokens, cost: float, **columns: Any) -> None:
    """Add to the session's sums; of what is no step of it this is all that is kept."""
    with events.together():
        row = session_store.locked(session_id)
        sums = Tokens.model_validate(row.tokens)
        sums.input += tokens.input
        sums.output += tokens.output
        sums.reasoning += tokens.reasoning
        sums.cache.read += tokens.cache.read
        sums.cache.write += tokens.cache.write
        if settings.PEOPLE and cost:
            quotas.spend(session_id, cost)
        session_store.change(row, tokens=sums.wire(), cost=row.cost + cost, **columns)


_CHANGED: Prepared[Any] = Prepared(
    lambda session_id, message_id: FileChange.objects.filter(
        session_id=session_id, message_id=message_id, operation=None
    ).values_list("project__worktree", "path", named=True)
)


def put_patch(message: AssistantMessage) -> None:
    """Name the files that a step's calls changed, with the snapshot that it began with (empty where there was
    none yet); nothing for a step that changed none."""
    paths = _CHANGED.named(message.session_id, message.id)
    files = sorted({shown(f"{row.project__worktree}/{row.path}") for row in paths})
    if files:
        began = Part.objects.filter(message_id=message.id, type="step-start").order_by("id").first()
        messages.put_part(
            PatchPart(
                id=ascending("prt"),
                session_id=message.session_id,
                message_id=message.id,
                hash=str(began.data.get("snapshot", "")) if began else "",
                files=files,
            )
        )
