"""What a step cost: part, message and the session's sums in one transaction."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions.models import Session
from sessions.wire.base import Tokens
from sessions.wire.messages import AssistantMessage
from sessions.wire.parts import StepFinishPart

from . import messages
from . import sessions as session_store


def step_finished(
    message: AssistantMessage, part: StepFinishPart, filling: dict[str, Any] | None = None
) -> None:
    """Record the end of a provider turn. Tokens of the session are sums; its cost is in US dollars; `filling`
    is what the context window holds now, as `rendering/meter.py` reads it."""
    with transaction.atomic():
        messages.put_part(part)
        messages.put_message(message)
        row = Session.objects.get(id=message.session_id)
        sums = Tokens.model_validate(row.tokens)
        step = part.tokens
        sums.input += step.input
        sums.output += step.output
        sums.reasoning += step.reasoning
        sums.cache.read += step.cache.read
        sums.cache.write += step.cache.write
        columns = {} if filling is None else {"window": filling}
        session_store.update(row.id, tokens=sums.wire(), cost=row.cost + part.cost, **columns)
