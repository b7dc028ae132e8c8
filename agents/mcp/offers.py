"""What an MCP server has told about itself."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import types


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
