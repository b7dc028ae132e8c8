"""Admit the System Context durably: a baseline at the start of an epoch, then chronological updates.

An epoch outlives restarts and switches of agent or model. It ends by compaction, by a move of the session,
and where its snapshot cannot be compared with what there is.
"""

from __future__ import annotations

import logging

from agents.agent.context.registry import system_context
from agents.agent.context.system_context import (
    Action,
    ReplacementBlocked,
    ReplacementReady,
    Snapshot,
    Updated,
    from_json,
    to_json,
)
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.models import ContextEpoch, Session
from sessions.core.store import context as store

logger = logging.getLogger(__name__)


class ContextBlocked(Exception):
    """The baseline is incomplete for now (a source is unavailable); the text is for people."""


async def prepare(turn: Turn) -> None:
    """Make sure that the session has an epoch whose baseline is complete. Raises ContextBlocked.

    Called before the first prompt of a session is promoted; cheap when there is an epoch.
    """
    epoch = await _epoch(turn)
    if epoch is None or epoch.ended or _snapshot(epoch, turn) is None:
        await _take(await _next_action(turn, epoch), turn)


async def admit(turn: Turn) -> str:
    """Reconcile at a safe boundary: what changed becomes one Mid-Conversation System Message, durable with
    the snapshot. Returns the baseline of the epoch in force. Raises ContextBlocked."""
    epoch = await _epoch(turn)
    while begun := await _take(await _next_action(turn, epoch), turn):
        epoch = begun  # and what stands in no baseline is told in its place
    assert epoch is not None, "only an epoch can be unchanged"
    return epoch.baseline


async def _epoch(turn: Turn) -> ContextEpoch | None:
    """As it was read with the session's row, or else now."""
    if Session.epoch.is_cached(turn.session):
        return getattr(turn.session, "epoch", None)
    return await in_db(store.epoch, turn.session.id)


async def _take(action: Action, turn: Turn) -> ContextEpoch | None:
    """Do it; the epoch that it began. Raises ContextBlocked."""
    match action:
        case ReplacementBlocked(reason):
            raise ContextBlocked(reason)
        case ReplacementReady(baseline, snapshot):
            kept = to_json(snapshot)
            begun = await in_db(store.begin, turn.session.id, turn.session.directory, baseline, kept)
            if Session.epoch.is_cached(turn.session):
                turn.session.epoch = begun
            return begun
        case Updated(text, snapshot):
            await in_db(store.advance, turn.session.id, text, to_json(snapshot))
            if Session.epoch.is_cached(turn.session):
                turn.session.epoch.snapshot = to_json(snapshot)
    return None


async def _next_action(turn: Turn, epoch: ContextEpoch | None) -> Action:
    context = await system_context(turn)
    snapshot = _snapshot(epoch, turn) if epoch else None
    if epoch is None or snapshot is None:
        return await context.initialize()
    return await (context.replace(snapshot) if epoch.ended else context.reconcile(snapshot))


def _snapshot(epoch: ContextEpoch, turn: Turn) -> Snapshot | None:
    """What was admitted; None where it speaks of another folder or cannot be read."""
    if epoch.directory != turn.session.directory:
        return None
    snapshot = from_json(epoch.snapshot)
    if snapshot is None:
        logger.warning("session %s: its context snapshot cannot be read; an epoch begins", turn.session.id)
    return snapshot
