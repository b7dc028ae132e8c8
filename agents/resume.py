"""`resume` of the configuration: what becomes of a turn that was cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from agents.configuration import load

Mode = Literal["auto", "ask", "off"]


def mode(directory: str) -> Mode:
    """Of the folder that a session works in; reads files when they have changed."""
    return load(Path(directory)).config.resume
