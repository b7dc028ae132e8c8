from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.config.jsonc import Document, JsoncError


def test_comments_and_trailing_commas_are_skipped_and_strings_untouched() -> None:
    document = Document(
        '\ufeff{ // one\n  "url": "https://x/*y*/,]", /* two\n lines */\n'
        '  "list": [1, [2,],],\n  "n": null,\n}'
    )
    assert document.value == {"url": "https://x/*y*/,]", "list": [1, [2]], "n": None}
    assert document.lines[("url",)] == 2
    assert document.lines[("list", 1, 0)] == 4
    assert document.line(("n", "deeper")) == 5


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100)
@given(values, st.sampled_from([None, 1]))
def test_every_json_text_reads_as_the_standard_library_reads_it(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=indent is None)
    assert Document(text).value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "expected ','"),
        ('{"a" 1}', 1, 6, "expected ':'"),
        ('{"a": }', 1, 7, "expected a value"),
        ('{"a": 1', 1, 8, "the end of the file"),
        ('{\n"a": "open\n"}', 2, 6, "cannot read"),
        ("{,}", 1, 2, "expected a key"),
        ("[1,,2]", 1, 4, "expected a value"),
        ("{} {}", 1, 4, "expected the end"),
        ("[01]", 1, 3, "expected ','"),
        ('["\\x"]', 1, 2, "cannot read"),
        ('{"a": [1,\n-1e999]}', 2, 1, "cannot read -1e999"),
        ('{"a\\ud800": 1}', 1, 2, "cannot read"),
        ("/* open", 1, 1, "cannot read"),
        ("[" * 200, 1, 102, "nested too deeply"),
    ],
)
def test_errors_say_where_and_what(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(JsoncError) as caught:
        Document(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message
