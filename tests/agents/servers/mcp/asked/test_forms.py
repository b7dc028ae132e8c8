from __future__ import annotations

from typing import Any

import pytest

from agents.servers.mcp.asked.elicitation import LEAVE_OUT, SUGGESTED, BadAnswer, BadForm, Field, fields_of


def field(required: bool = True, **schema: Any) -> Field:
    (made,) = fields_of({"properties": {"it": schema}, "required": ["it"] if required else []})
    return made


COLOURS = {"oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        ({"type": "string"}, ["words "], "words"),
        ({"type": "string", "format": "email"}, ["a@b.cd"], "a@b.cd"),
        ({"type": "string", "format": "date"}, ["2026-02-28"], "2026-02-28"),
        ({"type": "string", "enum": ["x", "y"]}, ["y"], "y"),
        ({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]}, ["Why"], "y"),
        ({"type": "string", **COLOURS}, ["Blue"], "b"),
        ({"type": "integer", "minimum": 1}, ["7"], 7),
        ({"type": "number"}, ["-1.5"], -1.5),
        ({"type": "boolean"}, ["No"], False),
        ({"type": "array", "items": {"anyOf": COLOURS["oneOf"]}}, ["Red", "Blue"], ["r", "b"]),
    ],
)
def test_answers_become_what_the_server_wants(
    schema: dict[str, Any], answer: list[str], value: object
) -> None:
    assert field(**schema).value(answer) == value


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "string"}, []),
        ({"type": "string", "maxLength": 2}, ["abc"]),
        ({"type": "string", "format": "email"}, ["nobody"]),
        ({"type": "string", "format": "uri"}, ["no address"]),
        ({"type": "string", "format": "date"}, ["2026-02-30"]),
        ({"type": "integer"}, ["1.5"]),
        ({"type": "number", "maximum": 3}, ["4"]),
        ({"type": "number"}, ["inf"]),
        ({"type": "number"}, ["nan"]),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, ["a", "b"]),
    ],
)
def test_an_answer_that_does_not_fit_is_told(schema: dict[str, Any], answer: list[str]) -> None:
    with pytest.raises(BadAnswer):
        field(**schema).value(answer)


def test_what_is_not_required_can_be_left_out() -> None:
    optional = field(required=False, type="string", default="so", title="Name", description="Yours.")
    question = optional.question("A server asks.")
    assert (question.header, question.question, question.custom) == ("Name", "A server asks.\n\nYours.", True)
    assert [(option.label, option.description) for option in question.options] == [
        ("so", SUGGESTED),
        (LEAVE_OUT, ""),
    ]
    assert optional.value([LEAVE_OUT]) is None
    assert field(required=False, type="array", items={"enum": ["a"]}).value([]) is None
    assert [option.label for option in field(type="boolean").question("").options] == ["Yes", "No"]


def test_labels_that_stand_twice_are_told_apart() -> None:
    twice = field(type="string", enum=["1", "2"], enumNames=["One", "One"])
    assert [option.label for option in twice.question("").options] == ["One (1)", "One (2)"]
    assert twice.value(["One (2)"]) == "2"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {str(number): {"type": "string"} for number in range(21)}},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"a": "text"}},
        {"properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"properties": {"a": {"type": "string", "enum": [str(number) for number in range(101)]}}},
        {},
    ],
)
def test_what_no_person_can_be_asked_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(BadForm):
        fields_of(schema)
