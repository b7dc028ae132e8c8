"""Sessions, their todo lists, and what waits for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from opencode_web.bridge.formatting.plain import bullets, one_line

Json = dict[str, Any]


def session_line(session: Json) -> str:
    summary = session.get("summary") or {}
    updated = datetime.fromtimestamp(session["time"]["updated"] / 1000, UTC)
    changes = (
        f" · {summary['files']} files +{summary['additions']} -{summary['deletions']}" if summary else ""
    )
    parent = f" · child of {session['parentID']}" if session.get("parentID") else ""
    return (
        f"{session['id']} · {one_line(session['title'], 80)} · {updated:%Y-%m-%d %H:%M} UTC{changes}{parent}"
    )


def session(data: Json) -> str:
    """One session with all that is of use."""
    lines = [session_line(data), f"directory: {data['directory']}"]
    if model := data.get("model"):
        lines.append(f"model: {model['providerID']}/{model['id']}")
    if data.get("agent"):
        lines.append(f"agent: {data['agent']}")
    if share := data.get("share"):
        lines.append(f"shared at {share['url']}")
    if revert := data.get("revert"):
        lines.append(f"reverted to before {revert['messageID']}; unrevert takes it back")
    return "\n".join(lines)


sessions = bullets(session_line, "No sessions.")


def todos(items: Sequence[Json]) -> str:
    if not items:
        return "No todo list."
    marks = {"completed": "x", "in_progress": "~", "cancelled": "-"}
    return "\n".join(f"- [{marks.get(item['status'], ' ')}] {item['content']}" for item in items)


def permission_line(request: Json) -> str:
    """A permission request, and how to answer it."""
    about = ", ".join(request.get("patterns") or []) or "-"
    return (
        f"Permission {request['id']} (session {request['sessionID']}): {request['permission']}: "
        f"{one_line(about, 300)}. Answer with opencode_permission_reply: requestID {request['id']}, "
        "reply once, always or reject."
    )


def question_line(request: Json) -> str:
    """A question, its options, and how to answer it."""
    asked = " / ".join(map(_question, request["questions"]))
    return (
        f"Question {request['id']} (session {request['sessionID']}): {asked}. Answer with "
        f"opencode_question_reply: requestID {request['id']}, answers one list of labels for each question; "
        "or opencode_question_reject."
    )


permissions = bullets(permission_line, "No permission request waits.")
questions = bullets(question_line, "No question waits.")


def _question(question: Json) -> str:
    labels = ", ".join(option["label"] for option in question.get("options") or [])
    return (
        f"{one_line(question['question'], 300)} [{labels}]" if labels else one_line(question["question"], 300)
    )
