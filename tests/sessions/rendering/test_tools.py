"""How a call is named on its card, and by what of its input."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.rendering.tools import card


def part(tool: str, given: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": given, "output": "", "time": {"start": 1, "end": 2}}
    return {"id": "prt_1", "type": "tool", "tool": tool, "state": state, "metadata": metadata}


@pytest.mark.parametrize(
    ("tool", "given", "label", "subtitle"),
    [
        ("web_search", {"query": "a date"}, "Search the web", "a date"),
        ("web_search", {"queries": ["one", "two"]}, "Search the web", "one, two"),
        ("code_interpreter", {"code": "\nprint(1)\nprint(2)"}, "Run code", "print(1)"),
        ("other_thing", {"topic": "trees"}, "other_thing", "trees"),
    ],
)
def test_what_a_provider_ran_is_named_as_our_own_tools(
    tool: str, given: dict[str, Any], label: str, subtitle: str
) -> None:
    shown = card(part(tool, given, providerExecuted=True))
    assert (shown.label, shown.subtitle, shown.note) == (label, subtitle, "run by the provider")


@pytest.mark.parametrize(
    ("given", "subtitle"),
    [
        ({}, ""),
        ({"city": "Oslo"}, "Oslo"),
        ({"city": "Oslo", "days": 2}, '{"city": "Oslo", "days": 2}'),
        ({"days": 2}, '{"days": 2}'),
    ],
)
def test_a_tool_of_a_server_is_named_as_it_is(given: dict[str, Any], subtitle: str) -> None:
    shown = card(part("weather_get", given))
    assert (shown.label, shown.subtitle, shown.note) == ("weather_get", subtitle, "")


@pytest.mark.parametrize(
    ("metadata", "note"),
    [
        ({"exit": 1}, "exit 1"),
        ({"exit": -15, "limit": "timeout"}, "ended at its time limit"),
        ({"exit": -15, "limit": "memory"}, "ended at the memory limit"),
        ({"exit": -15, "limit": "processor"}, "ended at the limit of processor time"),
        ({"exit": 0, "limit": "nothing known"}, ""),
    ],
)
def test_a_command_that_reached_a_limit_says_which(metadata: dict[str, Any], note: str) -> None:
    call = part("bash", {"command": "make"})
    call["state"]["metadata"] = metadata
    assert card(call).note == note
    assert card(call).stays == bool(note)
