"""Admit the System Context durably: a baseline at the start of an epoch, then chronological updates."""

from __future__ import annotations

from agents.context.system import environment, instructions
from agents.turn import Turn


class ContextBlocked(Exception):
    """The baseline is incomplete for now (a source is unavailable); the text is for people."""


async def prepare(turn: Turn) -> None:
    """Make sure that the session has an epoch whose baseline is complete. Raises ContextBlocked.

    Called before the first prompt of a session is promoted; cheap when there is an epoch.
    """


async def admit(turn: Turn) -> str:
    """Reconcile at a safe boundary: what changed becomes one Mid-Conversation System Message, durable with
    the snapshot. Returns the baseline of the epoch in force. Raises ContextBlocked."""
    is_git = turn.session.project.vcs == "git"
    surroundings = [environment(turn.model, turn.directory, is_git)]
    return "\n\n".join([*surroundings, *instructions(turn.directory, turn.worktree)])
