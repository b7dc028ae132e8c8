"""Sessions, what was said in them, what was done and changed, and what waits for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from opencode_web.bridge.formatting.plain import bullets, one_line


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


Json = dict[str, Any]

_TELLING = ("command", "filePath", "pattern", "path", "query", "url", "description", "name")
"""Arguments that say best what a tool call is about."""
OUTPUT_CHARACTERS = 300


def message(data: Json) -> str:
    """One message with a heading."""
    info = data["info"]
    heading = f"## {info['role']} · {info['id']}" + _at(info)
    if info.get("error"):
        heading += f"\n**{error_text(info['error'])}**"
    body = "\n".join(filter(None, map(part, data["parts"])))
    return f"{heading}\n{body or '(no text)'}"


def conversation(data: Sequence[Json]) -> str:
    """A history, oldest first."""
    return "\n\n".join(map(message, data)) if data else "No messages yet."


def turn(data: Sequence[Json]) -> str:
    """What came of one prompt: the calls of all its steps, then the text."""
    parts = [item for one in data for item in one["parts"]]
    calls = [part(item) for item in parts if item["type"] == "tool"]
    text = "\n\n".join(said(item) for item in parts if said(item))
    errors = [error_text(one["info"]["error"]) for one in data if one["info"].get("error")]
    pieces = [text, "\n".join(["Tools:", *calls]) if calls else "", *(f"Error: {error}" for error in errors)]
    return "\n\n".join(filter(None, pieces)) or "(The answer is empty.)"


def said(item: Json) -> str:
    """The text of a text part, nothing for what was not meant to be read."""
    if item["type"] != "text" or item.get("synthetic") or item.get("ignored"):
        return ""
    return str(item["text"]).strip()


def part(item: Json) -> str:
    """One part in a line or a few; nothing for what only the program needs."""
    match item["type"]:
        case "text":
            return said(item)
        case "reasoning":
            return f"(thought) {one_line(item['text'], 200)}" if item["text"].strip() else ""
        case "tool":
            return _tool(item)
        case "file":
            return f"- file {item.get('filename') or item.get('mime')}"
        case "patch":
            return f"- changed {', '.join(item['files'])}"
        case "subtask" | "agent":
            return f"- {item['type']} {item.get('agent') or item.get('name')}"
        case "compaction":
            return "- the conversation was compacted"
    return ""


def call_name(item: Json) -> str:
    """What a tool call is about, in a few words."""
    state = item["state"]
    given = state.get("input") or {}
    about = state.get("title") or next((str(given[name]) for name in _TELLING if given.get(name)), "")
    return f"{item['tool']} {one_line(about)}".strip()


def error_text(error: Json) -> str:
    """A message's error in words."""
    data = error.get("data") or {}
    return f"{error.get('name', 'Error')}: {data.get('message') or 'no reason was given'}"


def _tool(item: Json) -> str:
    state = item["state"]
    output = state.get("output") if state["status"] == "completed" else state.get("error")
    line = f"- {call_name(item)} ({state['status']})"
    return f"{line}: {one_line(str(output), OUTPUT_CHARACTERS)}" if output else line


def _at(info: Json) -> str:
    milliseconds = (info.get("time") or {}).get("created")
    if not milliseconds:
        return ""
    return f" · {datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def counts(diffs: Sequence[Json]) -> str:
    """One bullet for each file after the sum."""
    if not diffs:
        return "No changes."
    added, removed = sum(map(_additions, diffs)), sum(map(_deletions, diffs))
    heading = f"{len(diffs)} file{'s' if len(diffs) != 1 else ''}, +{added} -{removed}:"
    return "\n".join([heading, *map(_line, diffs)])


def patches(diffs: Sequence[Json]) -> str:
    """The counts, then each file's patch."""
    texts = [f"```diff\n{diff['patch'].rstrip()}\n```" for diff in diffs if diff.get("patch")]
    return "\n\n".join([counts(diffs), *texts])


def _line(diff: Json) -> str:
    name = diff.get("file") or diff.get("path") or "?"
    return f"- {name} ({diff.get('status') or 'modified'}, +{_additions(diff)} -{_deletions(diff)})"


def _additions(diff: Json) -> int:
    """Two shapes of the protocol name it differently."""
    return int(diff["additions"] if "additions" in diff else diff["added"])


def _deletions(diff: Json) -> int:
    return int(diff["deletions"] if "deletions" in diff else diff["removed"])
