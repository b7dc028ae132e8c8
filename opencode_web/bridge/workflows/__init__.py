"""The workflow tools: several requests in one call."""

from __future__ import annotations

from opencode_web.bridge.workflows.project import PIECES, PROJECT
from opencode_web.bridge.workflows.sessions import SESSIONS
from opencode_web.bridge.workflows.turns import TURNS

WORKFLOWS = (*PROJECT, *TURNS, *SESSIONS)
__all__ = ["PIECES", "WORKFLOWS"]
