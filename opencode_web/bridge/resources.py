"""What a client can browse: JSON of the bridge's own directory, under `opencode://`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opencode_web.bridge.formatting.catalogues import brief_providers
from opencode_web.bridge.formatting.redact import redacted

Reduce = Callable[[Any], Any]


def _all(data: Any) -> Any:
    return data


def _only(*names: str) -> Reduce:
    """Of each item of a list only these fields: the others are prompts, templates and rules."""
    return lambda items: [{name: item[name] for name in names if name in item} for item in items]


@dataclass(frozen=True, slots=True)
class Resource:
    """`reduce` leaves out what is secret or too much."""

    uri: str
    title: str
    description: str
    path: str
    reduce: Reduce = _all


RESOURCES = tuple(
    Resource(f"opencode://{name}", title, description, path, reduce)
    for name, title, description, path, reduce in (
        ("project/current", "Project", "The project of the directory.", "/project/current", _all),
        ("config", "Configuration", "The configuration; secrets are hidden.", "/config", redacted),
        ("providers", "Providers", "Providers that can be used, with their models.", "/config/providers",
         brief_providers),
        ("agents", "Agents", "The agents.", "/agent", _only("name", "mode", "description", "model")),
        ("commands", "Commands", "The slash commands.", "/command", _only("name", "description", "agent")),
        ("health", "Health", "Whether the server answers, and its version.", "/global/health", _all),
        ("vcs", "Version control", "The branch.", "/vcs", _all),
        ("sessions", "Sessions", "The sessions, newest first.", "/session", _all),
        ("mcp-servers", "MCP servers", "The MCP servers of the agent and their states.", "/mcp", _all),
        ("file-status", "Changed files", "Files that differ from the last commit.", "/file/status", _all),
    )
)  # fmt: skip
