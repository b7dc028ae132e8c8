"""`share` of the configuration: whether sessions may be shared, and whether new ones are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from agents.configuration import load

Mode = Literal["manual", "auto", "disabled"]


def mode(directory: str) -> Mode:
    """Of a project's folder. As in OpenCode, OPENCODE_DISABLE_SHARE and OPENCODE_AUTO_SHARE come first."""
    if _set("OPENCODE_DISABLE_SHARE"):
        return "disabled"
    chosen = load(Path(directory)).config.share or "manual"
    return "auto" if chosen == "manual" and _set("OPENCODE_AUTO_SHARE") else chosen


def _set(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true")
