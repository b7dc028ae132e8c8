from __future__ import annotations

from typing import Any

import pytest

from agents.agent.offered.tools import harmless
from sessions.core.wire.formats import BadSchema

TEXT = {"type": "string"}


def test_a_plain_schema_is_passed_through() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"anyOf": [TEXT, {"$ref": "#/$defs/n"}]}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"n": {"type": "number", "exclusiveMinimum": 0}},
    }
    assert harmless(schema) == {key: value for key, value in schema.items() if key != "$schema"}


def test_what_providers_refuse_at_the_top_is_taken_out() -> None:
    made = harmless({"anyOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": TEXT}}]})
    assert made == {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
    assert harmless({}) == {"type": "object", "properties": {}}


def test_names_that_providers_refuse_are_left_out() -> None:
    made = harmless({"type": "object", "properties": {"@id": TEXT, "ok": TEXT}, "required": ["@id", "ok"]})
    assert made == {"type": "object", "properties": {"ok": TEXT}, "required": ["ok"]}


def test_half_characters_do_not_come_through() -> None:
    made = harmless({"type": "object", "description": "a\ud800b"})
    assert made["description"].encode() == b"a?b"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": {"a": {"type": "strange"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        {"type": "object", "description": "x" * 200_000},
        {"type": "object", "default": float("nan")},
    ],
)
def test_what_is_hopeless_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(BadSchema):
        harmless(schema)
