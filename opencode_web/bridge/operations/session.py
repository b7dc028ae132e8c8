"""Sessions."""

from __future__ import annotations

from typing import Any, Literal

from opencode_web.bridge.formatting.messages import patches, session, sessions, todos
from opencode_web.bridge.formatting.plain import done, statuses
from opencode_web.bridge.operations import shapes
from opencode_web.bridge.operations.arguments import MODEL, SESSION, MessageID, SessionID, body, path, query
from opencode_web.bridge.tool import ACTS, ADDS, ENDS, REACHES, READS, SETS, Operation

_ONE = "/session/{sessionID}"
_PAGE = (
    query("limit", "At most so many.", int),
    query("start", "Only those updated since this time, in milliseconds.", int),
    query("roots", "Only those that are no subagent's.", bool),
)
_UNTIL = body("messageID", "The message to stop before; all of the session without it.", MessageID)

_LISTS = (
    Operation("session_list", "GET", "/session", "List sessions, newest first.", READS, _PAGE, sessions),
    Operation(
        "session_search",
        "GET",
        "/session",
        "Find sessions by a word of their title.",
        READS,
        (query("search", "What the title has in it.", required=True), *_PAGE),
        sessions,
    ),
    Operation(
        "session_list_all",
        "GET",
        "/experimental/session",
        "List sessions of all projects, newest first.",
        READS,
        (query("search", "What the title has in it."), *_PAGE, query("archived", "Archived ones too.", bool)),
        sessions,
    ),
    Operation(
        "session_status",
        "GET",
        "/session/status",
        "Say which sessions are busy or waiting to try again; the others are idle.",
        READS,
        format=lambda data: statuses(data) if data else "All sessions are idle.",
    ),
    Operation(
        "session_children",
        "GET",
        f"{_ONE}/children",
        "List the sessions that subagents of a session have.",
        READS,
        (SESSION,),
        sessions,
    ),
)

_ONE_SESSION = (
    Operation(
        "session_create",
        "POST",
        "/session",
        "Create an empty session.",
        ADDS,
        (
            body("title", "What it is called; made from the first prompt otherwise."),
            body("parentID", "The session it belongs to.", SessionID),
            body("agent", "The agent that answers in it."),
        ),
        session,
    ),
    Operation("session_get", "GET", _ONE, "Show one session.", READS, (SESSION,), session),
    Operation(
        "session_update",
        "PATCH",
        _ONE,
        "Rename a session, archive it, or note something on it.",
        SETS,
        (
            SESSION,
            body("title", "The new title."),
            body("archived", "The time of archiving, in milliseconds.", int),
            body("metadata", "Anything; it replaces what was noted.", dict[str, Any]),
        ),
        session,
        shapes.archived,
    ),
    Operation(
        "session_delete",
        "DELETE",
        _ONE,
        "Delete a session with all its messages.",
        ENDS,
        (SESSION,),
        done("The session was deleted."),
    ),
    Operation("session_todo", "GET", f"{_ONE}/todo", "Show a session's todo list.", READS, (SESSION,), todos),
    Operation(
        "session_diff",
        "GET",
        f"{_ONE}/diff",
        "Show the changes to files that one prompt led to.",
        READS,
        (SESSION, query("messageID", "The user's message that asked for them.", MessageID)),
        patches,
    ),
)

_CHANGES = (
    Operation(
        "session_init",
        "POST",
        f"{_ONE}/init",
        "Let the agent look at the project and write AGENTS.md.",
        ACTS,
        (SESSION, *MODEL),
        done("AGENTS.md was written."),
        shapes.init,
        long=True,
    ),
    Operation(
        "session_abort",
        "POST",
        f"{_ONE}/abort",
        "Stop what a session is doing.",
        ENDS,
        (SESSION,),
        done("The session was stopped."),
    ),
    Operation(
        "session_fork",
        "POST",
        f"{_ONE}/fork",
        "Copy a session, up to a message, into a new one.",
        ADDS,
        (SESSION, _UNTIL),
        session,
    ),
    Operation(
        "session_share",
        "POST",
        f"{_ONE}/share",
        "Publish a session at a secret address.",
        REACHES,
        (SESSION,),
        session,
    ),
    Operation(
        "session_unshare",
        "DELETE",
        f"{_ONE}/share",
        "Take a published session back.",
        ENDS,
        (SESSION,),
        session,
    ),
    Operation(
        "session_summarize",
        "POST",
        f"{_ONE}/summarize",
        "Compact a session: a summary takes the place of its history.",
        ACTS,
        (SESSION, *MODEL),
        done("The session was compacted."),
        shapes.with_model,
        long=True,
    ),
    Operation(
        "session_revert",
        "POST",
        f"{_ONE}/revert",
        "Go back to before a message, with the files; opencode_session_unrevert takes it back.",
        ACTS,
        (
            SESSION,
            body("messageID", "The message to go back before.", MessageID, required=True),
            body("partID", "Only from this part of it on."),
        ),
        session,
    ),
    Operation(
        "session_unrevert", "POST", f"{_ONE}/unrevert", "Take a revert back.", ACTS, (SESSION,), session
    ),
    Operation(
        "session_permission",
        "POST",
        f"{_ONE}/permissions/{{permissionID}}",
        "Answer a permission request of a session.",
        ACTS,
        (
            SESSION,
            path("permissionID", "The request, per_…"),
            body("response", "The answer.", Literal["once", "always", "reject"], required=True),
        ),
        done("The request was answered."),
    ),
)

SESSION_OPERATIONS = (*_LISTS, *_ONE_SESSION, *_CHANGES)
