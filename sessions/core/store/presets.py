"""How much is asked in a session: chosen for one and all that it started (`agents.toolkit.permission.presets`
says what each means)."""

from __future__ import annotations

from django.db import transaction

from sessions.core.models import Session
from sessions.core.wire.session import Preset

from . import sessions as session_store
from .family import below, topmost
from .permissions import audit

EVERYTHING = "everything"


def switch(session: Session, preset: Preset, actor: str = "") -> Session | None:
    """Choose one for the topmost session and those below it; noted in the audit. The session as it is then,
    None when it is gone."""
    with transaction.atomic():
        root = topmost(session)
        if root.preset != preset:
            for row in (root, *below(root.id)):
                session_store.update(row.id, preset=preset)
            audit.note_preset(root, preset, actor)
    return session_store.get(session.id)


def carried(preset: str) -> str:
    """What a copy of a session begins with: no questions at all is for the one that it was chosen for."""
    return "" if preset == EVERYTHING else preset
