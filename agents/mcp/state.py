"""How a connection to an MCP server stands (seed 000 §4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["connected", "connecting", "disabled", "failed", "needs_auth", "needs_client_registration"]

_WITH_ERROR = ("failed", "needs_client_registration")


@dataclass(frozen=True, slots=True)
class State:
    """`error` is for people, and may quote what the server said."""

    status: Status
    error: str = ""

    def wire(self) -> dict[str, str]:
        """OpenCode's `MCPStatus`. That knows no `connecting`: like there, a server of which nothing is known
        yet is `disabled`."""
        if self.status == "connecting":
            return {"status": "disabled"}
        return {"status": self.status} | ({"error": self.error} if self.status in _WITH_ERROR else {})


CONNECTING = State("connecting")
CONNECTED = State("connected")
DISABLED = State("disabled")
