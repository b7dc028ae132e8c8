"""What plugins may do about a tool call: its arguments, its permission, its result, its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.plugins.authors import Refused
from agents.plugins.hooks import trigger
from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.defaults import is_guarded
from agents.toolkit.turn import Turn
from sessions.core.models import Session
from sessions.core.wire.parts import Running, ToolPart

INVALID = "invalid"
"""The tool that tells a model what was wrong with its call; nothing is run by it."""


async def before(session: Session, part: ToolPart, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments to run a call with; its part shows them. Raises ToolError when a plugin refuses it."""
    if part.tool == INVALID:
        return arguments
    given = {"args": dict(arguments)}
    try:
        made = await trigger(session, "tool.execute.before", _input(part), given)
    except Refused as refusal:
        raise ToolError(str(refusal) or "A plugin refuses this call.") from refusal
    if made["args"] == given["args"]:
        return arguments
    if isinstance(part.state, Running):
        part.state.input = made["args"]
    changed: dict[str, Any] = made["args"]
    return changed


async def after(
    session: Session, part: ToolPart, arguments: Mapping[str, Any], result: ToolResult
) -> ToolResult:
    """The result to settle a call with."""
    if part.tool == INVALID:
        return result
    given = {"title": result.title, "output": result.output, "metadata": result.metadata}
    made = await trigger(session, "tool.execute.after", {**_input(part), "args": dict(arguments)}, given)
    bounded = result.bounded and made["output"] == result.output
    return replace(
        result, title=made["title"], output=made["output"], metadata=made["metadata"], bounded=bounded
    )


async def verdict(
    session: Session,
    permission: str,
    patterns: Sequence[str],
    metadata: Mapping[str, Any],
    message_id: str,
    call_id: str,
) -> str:
    """`ask`, `allow` or `deny` for what the rules would ask about. What the guard protects is the person's to
    answer: no plugin may let the agent write its own configuration."""
    if permission == "edit" and any(is_guarded(pattern) for pattern in patterns):
        return "ask"
    request = {
        "sessionID": session.id,
        "permission": permission,
        "patterns": list(patterns),
        "metadata": dict(metadata),
        "tool": {"messageID": message_id, "callID": call_id},
    }
    made = await trigger(session, "permission.ask", request, {"status": "ask"})
    return str(made["status"])


async def shell_variables(turn: Turn, workdir: Path, call_id: str) -> dict[str, str]:
    """Variables for the commands of a call."""
    request = {"sessionID": turn.session.id, "callID": call_id, "cwd": str(workdir)}
    made: dict[str, str] = (await trigger(turn.session, "shell.env", request, {"env": {}}))["env"]
    return made


def _input(part: ToolPart) -> dict[str, Any]:
    return {
        "sessionID": part.session_id,
        "messageID": part.message_id,
        "callID": part.call_id,
        "tool": part.tool,
    }
