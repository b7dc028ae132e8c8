"""What was found, or was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Found:
    """What to start. `code` are the files of the project that would run with it: they take trust."""

    argv: tuple[str, ...]
    initialization: Mapping[str, Any]
    code: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """`reason` says what is not there."""

    reason: str
