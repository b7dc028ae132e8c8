from __future__ import annotations

from typing import Any

import pytest

from opencode_web.bridge.formatting.catalogues import auth_methods, content, entries, hits, known_providers
from opencode_web.bridge.formatting.messages import counts, message, patches, session, todos, turn
from opencode_web.bridge.formatting.plain import (
    MAX_CHARACTERS,
    limited,
    one_line,
    redacted,
    secrets_in,
    without,
)
from opencode_web.bridge.remote.client import Event
from opencode_web.bridge.watch import INTERVAL, Progress


def tool(status: str, **state: Any) -> dict[str, Any]:
    given = {"status": status, "input": {"command": "ls -l"}, **state}
    return {"type": "tool", "tool": "bash", "callID": "call_1", "state": given}


def assistant(*parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": "msg_1", "role": "assistant", **info}, "parts": list(parts)}


def test_a_message_is_text_and_a_line_for_each_call() -> None:
    hidden = {"type": "text", "text": "for the program", "synthetic": True}
    parts = [
        {"type": "reasoning", "text": "let me see\nwhat there is"},
        tool("completed", output="a\nb", title="List files"),
        hidden,
        {"type": "step-finish"},
        {"type": "text", "text": "Two files.\n"},
    ]
    assert message(assistant(*parts, time={"created": 1000})) == (
        "## assistant · msg_1 · 1970-01-01 00:00:01 UTC\n"
        "(thought) let me see what there is\n- bash List files (completed): a b\nTwo files."
    )
    error = {"name": "APIError", "data": {"message": "no credit"}}
    failed = assistant(tool("error", error="no such command"), error=error)
    assert turn([failed]) == "Tools:\n- bash ls -l (error): no such command\n\nError: APIError: no credit"
    assert turn([]) == "(The answer is empty.)"


def test_changes_are_counted_in_either_shape() -> None:
    diffs = [
        {"file": "a.py", "additions": 2, "deletions": 1, "status": "modified", "patch": "@@\n+x\n"},
        {"path": "b.py", "added": 3, "removed": 0, "status": "added"},
    ]
    assert counts(diffs) == "2 files, +5 -1:\n- a.py (modified, +2 -1)\n- b.py (added, +3 -0)"
    assert patches(diffs).endswith("```diff\n@@\n+x\n```")
    assert counts([]) == "No changes."


def test_what_is_too_long_is_cut_and_said_to_be() -> None:
    assert limited("a" * MAX_CHARACTERS) == "a" * MAX_CHARACTERS
    cut = limited("a" * (MAX_CHARACTERS + 1))
    assert len(cut) == MAX_CHARACTERS
    assert "50,001 characters" in cut
    assert one_line(" a\n b ", 10) == "a b"
    assert one_line("abcdef", 4) == "abc…"


def test_secrets_are_hidden_wherever_they_stand() -> None:
    config = {
        "model": "a/b",
        "provider": {"a": {"options": {"apiKey": "k1", "baseURL": "http://x"}, "key": "k2"}},
        "mcp": [{"headers": {"X-Thing": "k3"}, "environment": {"NAME": "k4"}, "url": "http://y"}],
        "tokens": 5,
        "empty": {"password": ""},
    }
    found = redacted(config)
    assert not any(f"k{number}" in str(found) for number in range(1, 5))
    assert found["provider"]["a"]["options"]["baseURL"] == "http://x"
    assert found["tokens"] == 5
    assert found["mcp"][0]["url"] == "http://y"
    assert secrets_in({"headers": {"a": "k3"}, "sub": {"password": "k5"}, "type": "local"}) == ["k3", "k5"]
    assert secrets_in(7) == []
    assert without("the key abcdef, a b", ["abcdef", "a", ""]) == "the key [hidden], a b"


def test_sessions_and_lists() -> None:
    shown = session(
        {
            "id": "ses_1",
            "title": "A\nsession",
            "directory": "/srv",
            "time": {"updated": 0},
            "model": {"providerID": "p", "id": "m"},
            "share": {"url": "http://s"},
            "revert": {"messageID": "msg_1"},
        }
    )
    assert shown.startswith("ses_1 · A session · 1970-01-01 00:00 UTC\ndirectory: /srv\nmodel: p/m\n")
    assert "shared at http://s" in shown
    assert "msg_1" in shown
    assert todos([{"status": "completed", "content": "a"}, {"status": "pending", "content": "b"}]) == (
        "- [x] a\n- [ ] b"
    )
    assert entries([{"name": "src", "type": "directory", "ignored": True}]) == "- src/ (ignored)"
    assert content({"type": "binary", "content": "AAAA", "mimeType": "image/png"}).startswith("A binary file")
    found = {"path": {"text": "a.py"}, "line_number": 3, "lines": {"text": "  x = 1\n"}}
    assert hits([found]) == "1 lines:\n- a.py:3: x = 1"
    methods = {"a": [{"type": "api", "label": "Key"}, {"type": "oauth", "label": "Browser"}]}
    assert auth_methods(methods) == "- a: 0 api (Key); 1 oauth (Browser)"
    providers = {"all": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}], "connected": ["b"]}
    assert known_providers(providers).splitlines()[1] == "- b (B): connected, 0 models"


def delta(text: str) -> Event:
    return Event("message.part.delta", {"sessionID": "ses_1", "delta": text})


def test_progress_tells_each_step_once_and_text_now_and_then() -> None:
    now = 0.0
    progress = Progress(lambda: now)
    running = Event("message.part.updated", {"part": tool("running")})
    assert progress.note(delta("abc")) == "3 characters written"
    assert progress.note(delta("de")) is None
    now += INTERVAL
    assert progress.note(delta("f")) == "6 characters written"
    assert progress.note(running) == "bash ls -l (running)"
    assert progress.note(running) is None
    retry = {"status": {"type": "retry", "attempt": 2, "message": "overloaded"}}
    assert progress.note(Event("session.status", retry)) == "retrying, attempt 2: overloaded"


@pytest.mark.parametrize("type", ["message.updated", "session.updated", "server.heartbeat", "anything.else"])
def test_other_events_say_nothing(type: str) -> None:
    assert Progress().note(Event(type, {"info": {}})) is None
