"""Tours of a change (`Tour`): what a model made of the hunks of a scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from sessions.core.ids import now
from sessions.core.models import Session, Tour

from . import ledger


def of(session_id: str, scope: str) -> Tour | None:
    """The one of a scope, which is named by its query."""
    return Tour.objects.filter(session_id=session_id, scope=scope).first()


def put(
    session: Session,
    scope: str,
    stops: Sequence[Mapping[str, Any]],
    hunks: Sequence[str],
    *,
    model: str,
    actor: str = "",
) -> Tour:
    """Make it the tour of a scope, in place of the one that there is; tells the pages of the session."""
    made = {
        "stops": list(stops),
        "hunks": list(hunks),
        "model": model,
        "actor": actor,
        "time_created": now(),
    }
    with transaction.atomic():
        row, _ = Tour.objects.update_or_create(session=session, scope=scope, defaults=made)
        ledger.changed(session)
    return row
