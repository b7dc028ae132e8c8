"""The card of an errand from its part alone: states, hostile metadata, what it came back with."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.rendering.children import errand, errand_html, errand_output

BASE = "/p/prj/s/ses_above"


def part(status: str, *, output: str = "", **metadata: Any) -> dict[str, Any]:
    given = {"description": "look <i>", "prompt": "Go <i>.", "subagent_type": "explore"}
    state = {"status": status, "input": given, "metadata": metadata, "output": output, "time": {"start": 1}}
    return {"id": "prt_1", "callID": "call_1", "type": "tool", "tool": "task", "state": state}


@pytest.mark.parametrize(
    ("status", "metadata", "state"),
    [
        ("pending", {}, "preparing"),
        ("running", {}, "working"),
        ("running", {"waiting": True}, "waiting"),
        ("completed", {"waiting": True}, "done"),
        ("error", {}, "failed"),
        ("error", {"stopped": True}, "stopped"),
        ("error", {"interrupted": True}, "stopped"),
    ],
)
def test_the_states(status: str, metadata: dict[str, Any], state: str) -> None:
    assert errand(part(status, **metadata), "", BASE).state == state


def test_what_it_does_now_is_the_call_that_runs() -> None:
    calls = [
        {"id": "1", "tool": "read", "state": {"status": "running", "title": "/p/a.py"}},
        {"id": "2", "tool": "grep", "state": {"status": "completed", "title": "x"}},
    ]
    shown = errand(part("running", summary=calls, calls=2, tokens=1500, sessionId="ses_1a"), "/p", BASE)
    assert (shown.now, shown.calls, shown.url) == ("Read a.py", 2, "/p/prj/s/ses_1a")
    assert errand(part("completed", summary=calls), "/p", BASE).now == ""


@pytest.mark.parametrize("hostile", ["../../x", "ses_<b>", 'ses_"', 7, None, ["ses_1"]])
def test_metadata_of_anybody_make_no_link_and_no_error(hostile: Any) -> None:
    shown = part("running", sessionId=hostile, summary=hostile, calls=hostile, agent="<b>")
    html = errand_html(shown, root="", base=BASE, oob=False)
    assert "<a" not in html
    assert "<b>" not in html
    assert "<i>" not in html


def test_the_answer_is_shown_without_what_frames_it() -> None:
    told = "task_id: ses_1\n\n<task_result>\nIt is **here** <script>x</script>.\n</task_result>"
    html = errand_output(part("completed", output=told))
    assert "<strong>here</strong>" in html
    assert "Go &lt;i&gt;." in html
    for absent in ("task_id", "task_result", "<script>"):
        assert absent not in html
