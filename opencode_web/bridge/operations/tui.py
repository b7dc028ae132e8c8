"""A terminal client that is attached to the server, controlled from here."""

from __future__ import annotations

from typing import Literal

from opencode_web.bridge.formatting.plain import done
from opencode_web.bridge.operation import Argument, Operation
from opencode_web.bridge.operations.arguments import SessionID, body
from opencode_web.bridge.tool import ACTS, ADDS, SETS, Hints


def _control(name: str, description: str, *arguments: Argument, hints: Hints = SETS) -> Operation:
    path = f"/tui/{name.replace('_', '-')}"
    return Operation(
        f"tui_{name}",
        "POST",
        path,
        description,
        hints,
        arguments,
        done("The terminal client was told."),
    )


TUI_OPERATIONS = (
    _control(
        "append_prompt",
        "Add a text to the prompt in the terminal client.",
        body("text", "The text.", required=True),
        hints=ADDS,
    ),
    _control("submit_prompt", "Send the prompt in the terminal client.", hints=ACTS),
    _control("clear_prompt", "Empty the prompt in the terminal client."),
    _control(
        "execute_command",
        "Run a command of the terminal client.",
        body("command", "Its name, such as session.new or agent.cycle.", required=True),
        hints=ACTS,
    ),
    _control(
        "show_toast",
        "Show a short message in the terminal client.",
        body("message", "The message.", required=True),
        body("variant", "Its kind.", Literal["info", "success", "warning", "error"], required=True),
        body("title", "A heading."),
        body("duration", "Milliseconds.", int),
        hints=ADDS,
    ),
    _control("open_help", "Open the help in the terminal client."),
    _control("open_sessions", "Open the list of sessions in the terminal client."),
    _control("open_models", "Open the list of models in the terminal client."),
    _control("open_themes", "Open the list of themes in the terminal client."),
    _control(
        "select_session",
        "Show a session in the terminal client.",
        body("sessionID", "The session, ses_…", SessionID, required=True),
    ),
)
