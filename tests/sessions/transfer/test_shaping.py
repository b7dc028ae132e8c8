"""Records of older versions are brought into form; what cannot be is named."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.core.wire.messages import MESSAGE
from sessions.core.wire.parts import PART
from sessions.transfer.importing import shape
from sessions.transfer.reading.records import Conversation, Wire
from tests.sessions.transfer import making

FOLDER = "/home/me/flows"


def shaped(*entries: Wire, **info: Any) -> Conversation:
    read = Conversation(info=making.session(FOLDER, **info), entries=list(entries))
    shape(read)
    return read


def without(record: Wire, *keys: str) -> Wire:
    return {key: value for key, value in record.items() if key not in keys}


def test_what_is_sound_stays_as_it_is() -> None:
    assert shaped(*making.conversation(FOLDER)).entries == making.conversation(FOLDER)


def test_messages_of_older_versions_get_what_they_lack() -> None:
    asked = without(making.prompt(), "agent", "model")
    said = without(making.answer(FOLDER), "agent", "mode", "parentID", "path", "cost", "tokens")
    read = shaped({"info": asked, "parts": []}, {"info": {**said, "summary": "text of old"}, "parts": []})
    prompt, answer = (entry["info"] for entry in read.entries)
    assert (prompt["agent"], prompt["model"]) == ("build", {"providerID": "anthropic", "modelID": "claude"})
    assert (answer["mode"], answer["agent"], answer["parentID"]) == ("build", "build", making.PROMPT)
    assert answer["path"] == {"cwd": FOLDER, "root": FOLDER}
    assert answer["summary"] is True
    for info in (prompt, answer):
        MESSAGE.validate_python(info)
    assert read.problems == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool", "tool": "list", "state": {"status": "completed"}},
        {"type": "tool", "tool": "list", "state": {"status": "error"}},
        {"type": "reasoning", "text": "Hm"},
        {"type": "step-finish"},
        {"type": "file", "url": "data:,x"},
        {"type": "text", "text": "x", "time": {"start": "12"}},
    ],
)
def test_parts_of_older_versions_get_what_they_lack(part: Wire) -> None:
    read = shaped({"info": making.answer(FOLDER), "parts": [{"id": "prt_1", **part}]})
    (taken,) = read.entries[0]["parts"]
    PART.validate_python(taken, strict=True)
    assert (taken["messageID"], taken["sessionID"]) == (making.ANSWER, making.SESSION)
    assert read.problems == []


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"id": "prt_1", "type": "tool", "tool": "x", "state": {"status": "odd"}}, "state"),
        ({"id": "prt_1", "type": "text", "text": 7}, "text"),
        ({"id": "prt_1"}, "it has no type"),
        ({"id": "nonsense", "type": "text"}, "is none of its kind"),
        ({"id": 'prt_"><b>', "type": "text"}, "is none of its kind"),
        ({"type": "text"}, "is none of its kind"),
    ],
)
def test_a_part_that_cannot_be_taken_is_named(part: Wire, reason: str) -> None:
    read = shaped({"info": making.answer(FOLDER), "parts": [part]})
    assert read.entries[0]["parts"] == []
    (problem,) = read.problems
    assert reason in problem.reason


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({}, {"field": "reasoning_content"}),
        ({"anthropic": {"signature": "s"}}, {"anthropic": {"signature": "s"}, "signature": "s"}),
        ({"openai": {"itemId": "r"}}, {"openai": {"itemId": "r"}}),
    ],
)
def test_reasoning_has_what_it_goes_back_with(theirs: Wire, ours: Wire) -> None:
    thought = {"id": "prt_1", "type": "reasoning", "text": "Hm", "metadata": theirs}
    read = shaped({"info": making.answer(FOLDER), "parts": [thought]})
    assert read.entries[0]["parts"][0]["metadata"] == ours


def test_a_message_of_an_unknown_role_is_named() -> None:
    read = shaped({"info": making.prompt(role="oracle"), "parts": []})
    assert (read.entries, read.problems[0].where) == ([], f"message/{making.PROMPT}")


def test_a_session_without_times_gets_those_of_its_messages() -> None:
    read = shaped(*making.conversation(FOLDER), time={})
    assert read.info["time"] == {"created": making.BEGUN + 1, "updated": making.BEGUN + 1}
