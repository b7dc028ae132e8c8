"""What a prompt says about subagents, put into words for the model when it is promoted.

The words are parts of the user message, so what a provider was sent stays the same from step to step.
"""

from __future__ import annotations

from typing import Any

CALLED_FOR = (
    'The user asks for the subagent "{name}". Call the task tool with it, and put all that it has to '
    "know into its prompt."
)
SENT = (
    'The user sends the subagent "{agent}" on this errand: {description}. Its result follows. Tell the user '
    "what matters of it, then go on with what they asked for, if anything is left."
)


def completed(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts of a prompt, each agent and errand among them followed by what the model is told of it."""
    found: list[dict[str, Any]] = []
    for part in parts:
        found.append(part)
        if part["type"] == "agent":
            found.append(_synthetic(CALLED_FOR.format(name=part["name"])))
        elif part["type"] == "subtask":
            found.append(_synthetic(SENT.format(agent=part["agent"], description=part["description"])))
    return found


def _synthetic(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "synthetic": True}
