"""What of a message is searched, also where its rows are not as they should be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions.core.index.document import document, when
from sessions.core.index.texts import LONGEST, Text, facets, texts


@dataclass
class Row:
    type: str
    data: Any
    id: str = "prt_1"


@dataclass
class Said:
    role: str
    data: Any
    session_id: str = "ses_1"
    time_created: int = 0


def test_each_kind_of_text() -> None:
    call = {"input": {"command": "pytest -x", "more": [{"deep": "leaf"}]}, "output": "1 failed"}
    rows = [
        Row("reasoning", {"text": "I think"}),
        Row("text", {"text": "I say"}),
        Row("tool", {"tool": "bash", "state": {**call, "status": "error", "error": "it broke"}}),
        Row("patch", {"files": ["/a/x.py", "/a/y.py"]}),
        Row("step-finish", {"reason": "stop"}),
    ]
    error = {"error": {"name": "APIError", "data": {"message": "overloaded"}}}
    assert list(texts("assistant", error, rows)) == [
        Text("thought", "prt_1", "I think"),
        Text("answer", "prt_1", "I say"),
        Text("input", "prt_1", "pytest -x\nleaf"),
        Text("output", "prt_1", "1 failed"),
        Text("error", "prt_1", "it broke"),
        Text("file", "prt_1", "/a/x.py\n/a/y.py"),
        Text("error", "", "overloaded"),
    ]
    assert facets({"agent": "build", "providerID": "p", "modelID": "m"}, rows) == {
        "agent": ["build"],
        "model": ["p/m"],
        "file": ["/a/x.py", "/a/y.py"],
        "ran": ["pytest -x"],
        "has": ["error"],
    }


def test_what_was_added_for_the_model_is_not_searched() -> None:
    rows = [Row("text", {"text": "typed"}), Row("text", {"text": "added", "synthetic": True})]
    assert list(texts("user", {}, rows)) == [Text("prompt", "prt_1", "typed")]
    assert facets({"model": {"providerID": "p", "modelID": "m"}}, rows)["model"] == ["p/m"]


def test_of_a_long_output_the_beginning_is_searched() -> None:
    output = "early " + "x " * LONGEST + "late"
    (text,) = texts("assistant", {}, [Row("tool", {"state": {"output": output}})])
    assert len(text.text) == LONGEST


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "state", "input", "error", "data", "files", "model"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(["text", "reasoning", "tool", "subtask", "file", "patch", "other"]), _JUNK, _JUNK)
def test_no_row_is_too_odd(type: str, data: Any, info: Any) -> None:
    words = document(Said("assistant", info, time_created=2**62), "p-1", [Row(type, data)])
    assert {"all:", "project:p_1", "session:ses_1"} <= words


def times(moment: int) -> set[str]:
    return document(Said("user", {}, time_created=moment), "p", [])


def milliseconds(*date: int) -> int:
    return int(datetime(*date, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


_MOMENTS = st.integers(-(2**50), 2**50) | st.integers(milliseconds(2019, 1, 1), milliseconds(2101, 1, 1))


@given(_MOMENTS, st.none() | _MOMENTS, st.none() | _MOMENTS)
def test_every_time_in_between_has_one_of_the_words(
    moment: int, after: int | None, before: int | None
) -> None:
    if (after is None or after <= moment) and (before is None or moment < before):
        assert times(moment) & {lookup.word for lookup in when(after, before)}


def test_few_words_tell_a_time() -> None:
    words = [one.word for one in when(milliseconds(2024, 11, 5), milliseconds(2026, 2, 1))]
    assert words == ["month:202411", "month:202412", "year:2025", "month:202601", "month:202602"]
    assert len(when(None, None)) == 80
