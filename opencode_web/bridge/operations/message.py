"""Messages: what was said, and saying something."""

from __future__ import annotations

from opencode_web.bridge.formatting.messages import conversation, message
from opencode_web.bridge.formatting.plain import done
from opencode_web.bridge.operations import shapes
from opencode_web.bridge.operations.arguments import MESSAGE, MODEL, SESSION, aside, path, query
from opencode_web.bridge.tool import ACTS, ENDS, READS, Operation

_ALL = "/session/{sessionID}/message"
_AGENT = aside("agent", "The agent that answers; the session's own when left out.")
_PROMPT = (
    SESSION,
    aside("text", "What to say.", required=True),
    *MODEL,
    _AGENT,
    aside("system", "More for the system prompt."),
    aside("variant", "A variant of the model, such as high."),
    aside("noReply", "Only note it; nobody answers.", bool),
)

MESSAGE_OPERATIONS = (
    Operation(
        "message_list",
        "GET",
        _ALL,
        "Show the messages of a session, oldest first.",
        READS,
        (
            SESSION,
            query("limit", "Only the newest so many.", int),
            query("before", "Only those before this cursor."),
        ),
        conversation,
    ),
    Operation(
        "message_get", "GET", f"{_ALL}/{{messageID}}", "Show one message.", READS, (SESSION, MESSAGE), message
    ),
    Operation(
        "message_send",
        "POST",
        _ALL,
        "Send a prompt and wait for the last message of its answer.",
        ACTS,
        _PROMPT,
        message,
        shapes.prompt,
        long=True,
    ),
    Operation(
        "message_send_async",
        "POST",
        "/session/{sessionID}/prompt_async",
        "Send a prompt and do not wait for the answer.",
        ACTS,
        _PROMPT,
        done("The prompt was taken. Look with opencode_check or wait with opencode_wait."),
        shapes.prompt,
    ),
    Operation(
        "message_delete",
        "DELETE",
        f"{_ALL}/{{messageID}}",
        "Delete one message of a session.",
        ENDS,
        (SESSION, MESSAGE),
        done("The message was deleted."),
    ),
    Operation(
        "part_delete",
        "DELETE",
        f"{_ALL}/{{messageID}}/part/{{partID}}",
        "Delete one part of a message.",
        ENDS,
        (SESSION, MESSAGE, path("partID", "The part, prt_…")),
        done("The part was deleted."),
    ),
    Operation(
        "command_execute",
        "POST",
        "/session/{sessionID}/command",
        "Run a slash command in a session and wait for the answer.",
        ACTS,
        (
            SESSION,
            aside("command", "Its name, without the slash.", required=True),
            aside("arguments", "What is written after it."),
            *MODEL,
            _AGENT,
        ),
        message,
        shapes.command,
        long=True,
    ),
    Operation(
        "shell_execute",
        "POST",
        "/session/{sessionID}/shell",
        "Run a shell command in a session's directory; it becomes part of the conversation.",
        ACTS,
        (SESSION, aside("command", "The command line.", required=True), *MODEL, _AGENT),
        message,
        shapes.shell,
        long=True,
    ),
)
