"""How a machine joins: for a token that counts once, and not for long, it is told what all of them have."""

from __future__ import annotations

import secrets
from hashlib import sha256

from django.db.models import Value

from opencode_web.nodes.models import Invitation
from opencode_web.team import SHARED_VARIABLES
from sessions.core import paths, variables
from sessions.core.store.leases import Clock

SECONDS = 15 * 60


def invite() -> str:
    """A new token."""
    token = secrets.token_hex(24)  # never like an option of the command it is given to
    Invitation.objects.filter(time_expires__lt=Clock()).delete()
    Invitation.objects.create(digest=_digest(token), time_expires=Clock() + Value(SECONDS * 1000))
    return token


def redeem(token: str) -> dict[str, str] | None:
    """What a machine needs, by the names of its variables; None for a token that counts no longer."""
    valid = Invitation.objects.filter(digest=_digest(token), time_expires__gte=Clock())
    if not valid.delete()[0]:
        return None
    told = {variable.name: variable.read() for variable in SHARED_VARIABLES}
    told[variables.SECRET.name] = paths.secret()
    return {name: value for name, value in told.items() if value}


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
