from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.config.jsonc import Document
from agents.config.writing import edited

keys = st.sampled_from(["a", "b", "c", 'quo"te'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)
objects = st.dictionaries(keys, values, max_size=4)


@settings(max_examples=300)
@given(objects, objects, st.sampled_from([None, 0, 2, "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_the_text_says_afterwards_what_was_wanted(
    now: dict[str, Any], wanted: dict[str, Any], indent: Any, newline: str, commented: bool
) -> None:
    text = json.dumps(now, indent=indent)
    if commented and indent is not None:
        text = text.replace("\n", " // said\n")
    text = text.replace("\n", newline)
    new = edited(text, wanted)
    assert Document(new).value == wanted
    if json.dumps(now, sort_keys=True) == json.dumps(wanted, sort_keys=True):
        assert new == text


BEFORE = """// mine
{
  "model": "a/b", // for now
  /* who */
  "username": "bob",
  "agent": { "build": { "steps": 3 } },
  "formatter": {
    "ruff": {},
  }
}
"""


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ({"model": "c/d"}, BEFORE.replace("a/b", "c/d")),
        ({"username": ...}, BEFORE.replace('  "username": "bob",\n', "")),
        ({"formatter": ...}, BEFORE.replace(',\n  "formatter": {\n    "ruff": {},\n  }\n', "\n")),
        ({"share": "manual"}, BEFORE.replace("  }\n}", '  },\n  "share": "manual"\n}')),
        (
            {"agent": {"build": {"steps": 3, "mode": "all"}}},
            BEFORE.replace('"steps": 3', '"steps": 3, "mode": "all"'),
        ),
        (
            {"formatter": {"ruff": {}, "gofmt": {"disabled": True}}},
            BEFORE.replace('"ruff": {},', '"ruff": {},\n    "gofmt": {\n      "disabled": true\n    }'),
        ),
        (
            {"formatter": {"ruff": {"disabled": True}}},
            BEFORE.replace('"ruff": {}', '"ruff": {\n      "disabled": true\n    }'),
        ),
    ],
)
def test_what_stays_is_left_as_it_is_written(changes: dict[str, Any], after: str) -> None:
    wanted = {**Document(BEFORE).value, **changes}
    assert edited(BEFORE, {key: value for key, value in wanted.items() if value is not ...}) == after


def test_a_first_key() -> None:
    assert edited("{}", {"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert edited("{ // none\n}\n", {"a": 1}) == '{\n  "a": 1 // none\n}\n'


def test_a_key_written_twice() -> None:
    twice = '{"a": 1, "a": 2, "b": 3}'
    assert edited(twice, {"a": 4, "b": 3}) == '{"a": 1, "a": 4, "b": 3}'
    assert Document(edited(twice, {"b": 3})).value == {"b": 3}
