"""How a language server of one root is, for the page, the protocol and the tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Status = Literal["connected", "starting", "error", "missing", "held", "idle"]
"""`missing`: its program is not there. `held`: it waits for a person's trust. `idle`: it does not run, and
starts when it is needed."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """`reason` says why it is not connected, or what it is at work on; `memory` in bytes; `log` has the last
    lines that it said."""

    id: str
    name: str
    root: Path
    status: Status
    reason: str = ""
    memory: int | None = None
    log: Sequence[str] = ()
