"""Text and places of language servers as they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.servers.lsp.client.encoding import path_of, uri_of
from agents.servers.lsp.client.jsonrpc import _parsed
from agents.servers.lsp.types import MOST, Position, Range


def test_text_that_no_encoder_takes_is_replaced() -> None:
    assert _parsed(b'{"a": ["\\ud800x", "\\uD83D\\ude00"], "b": "\\\\ud800"}') == {
        "a": ["?x", "\N{GRINNING FACE}"],
        "b": "\\ud800",
    }


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "x", None])
def test_what_is_no_number_is_no_place(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        Position.parse({"line": value, "character": 0})


def test_numbers_are_those_of_the_protocol() -> None:
    place = {"line": -5, "character": 10**30}
    assert Range.parse({"start": place, "end": place}).start == Position(0, MOST)


def test_a_path_shows_where_it_lies() -> None:
    assert path_of("file:///a/b/../../etc/passwd") == Path("/etc/passwd")
    assert path_of(uri_of(Path("/a/b c.py"))) == Path("/a/b c.py")
    assert path_of("javascript:alert(1)") is None
    assert path_of("file:///a%00b") is None
    assert path_of("file://elsewhere/a") is None
