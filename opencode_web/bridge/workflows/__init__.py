"""The workflow tools: several requests in one call."""

from __future__ import annotations

from opencode_web.bridge.workflows.looking import LOOKING
from opencode_web.bridge.workflows.pieces import PIECES
from opencode_web.bridge.workflows.surroundings import SURROUNDINGS
from opencode_web.bridge.workflows.turns import TURNS

WORKFLOWS = (*SURROUNDINGS, *TURNS, *LOOKING)
__all__ = ["PIECES", "WORKFLOWS"]
