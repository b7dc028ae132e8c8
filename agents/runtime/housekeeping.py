"""What is thrown away in time: old tool outputs, old events, sessions deleted long ago."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from agents.tools.shared.output import expire
from sessions import workers
from sessions.ids import now
from sessions.store import events, leases, problems
from sessions.store import sessions as session_store

OUTPUT_SECONDS = 7 * 24 * 3600
DELETED_MS = 30 * 24 * 3600 * 1000


def expire_outputs() -> None:
    """Managed Tool Output Files after a week (seed 002)."""
    expire(Path(settings.TOOL_OUTPUT_DIR), OUTPUT_SECONDS)


def prune_rows() -> None:
    """Runs on the ORM's thread."""
    events.prune()
    problems.prune()
    session_store.purge(now() - DELETED_MS)
    workers.forget_dead({row.lease_owner.partition(":")[0] for row in leases.leased()})
