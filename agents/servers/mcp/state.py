"""How a connection to an MCP server stands."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mcp import types

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


@dataclass(frozen=True, slots=True)
class Offers:
    """In the server's order; bounded (`link/lists.py`)."""

    tools: tuple[types.Tool, ...] = ()
    prompts: tuple[types.Prompt, ...] = ()
    resources: tuple[types.Resource, ...] = ()
    templates: tuple[types.ResourceTemplate, ...] = ()
    instructions: str = ""
    version: str = ""
    """The server's name and version, as it says."""

    def differences(self, other: Offers) -> frozenset[str]:
        """The names of the fields in which they differ."""
        return frozenset(
            field.name for field in fields(self) if getattr(self, field.name) != getattr(other, field.name)
        )


NOTHING = Offers()
