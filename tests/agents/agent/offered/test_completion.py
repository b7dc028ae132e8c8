"""Which argument is being written, and where a value goes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from agents.agent.offered.completion import filled, writing
from agents.agent.offered.prompts import Argument, Prompt

PROMPT = Prompt(cast(Any, None), "p", "", (Argument("city", "", True), Argument("state", "", False)))


@pytest.mark.parametrize(
    ("written", "name", "begun", "before", "put"),
    [
        ("", "city", "", {}, '"San Jose"'),
        ("Par", "city", "Par", {}, '"San Jose"'),
        ('"New Yo', "city", "New Yo", {}, '"San Jose"'),
        ("Paris ", "state", "", {"city": "Paris"}, '"San Jose"'),
        ("state=C", "state", "C", {}, '"state=San Jose"'),
        ("state=CA S", "city", "S", {"state": "CA"}, '"San Jose"'),
    ],
)
def test_the_argument_that_is_being_written(
    written: str, name: str, begun: str, before: dict[str, str], put: str
) -> None:
    at = writing(PROMPT, written)
    assert at is not None
    assert (at.argument.name, at.begun, at.before) == (name, begun, before)
    assert at.put("San Jose") == put
    whole = [*(f"{key}={value}" for key, value in before.items()), at.put("San Jose")]
    assert PROMPT.given(" ".join(whole)) == {**before, name: "San Jose"}


def test_when_all_is_written_nothing_is_suggested() -> None:
    assert writing(PROMPT, "Paris France ") is None


def test_a_template_is_filled_in_from_the_left() -> None:
    uri = "db://{table}/rows/{+path}"
    first, second = filled(uri, "db://us er"), filled(uri, "db://a%20b/rows/x/")
    assert first is not None
    assert (first.name, first.begun, first.rest, first.put("a b")) == (
        "table",
        "us er",
        True,
        "db://a%20b/rows/",
    )
    assert second is not None
    assert (second.name, second.begun, second.before, second.rest) == ("path", "x/", {"table": "a b"}, False)
    assert second.put("x/y z") == "db://a%20b/rows/x/y%20z"
    for other in ("dc://", "db://a/b", "db"):
        assert filled(uri, other) is None
    assert filled("x://{a}/end", "x://1/end") is None
