"""What a machine that went away had begun is closed by the fronts, from rows alone: its sessions say so, and
nobody waits for an answer that will not come. Its files stay as they are, and its prompts wait for it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agents.agent import recovery
from opencode_web.nodes import registry
from opencode_web.nodes.elsewhere import in_rows_of
from sessions.core.db import in_db
from sessions.core.store import leases
from sessions.core.workers import this_process

logger = logging.getLogger(__name__)

SECONDS = 2.0
LEASE_SECONDS = 15.0


async def run() -> None:
    """For as long as the front runs."""
    while True:
        try:
            for node in await in_db(registry.nodes):
                if not node.lives:
                    await settle(node.name)
        except Exception:
            logger.exception("the sessions of machines that went away could not be looked after")
        await asyncio.sleep(SECONDS)


async def settle(node: str) -> list[str]:
    """Close the turns whose lease has expired; gives their sessions."""
    return await in_rows_of(node, _settle)


def _settle() -> list[str]:
    closed: list[str] = []
    for row in leases.leased():
        expired: Any = row.expired  # type: ignore[attr-defined]  # annotated by `leased`
        if not expired or leases.is_for_a_purpose(row.lease_owner):
            continue
        owner = this_process().name
        lease = leases.seize(row, owner, LEASE_SECONDS, dead=False)
        if lease is not None:
            recovery.close(lease, recovery.Close(recovery.GONE, stopped=lease.left_stopped))
            closed.append(row.id)
    return closed
