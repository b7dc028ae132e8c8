"""The decoder of event streams: the same events, wherever the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.core.sse import Decoder

RECORDED = (
    '\ufeff: a comment\n\nevent: delta\r\nid: 7\r\ndata: {"text": "Grüße 🌍"}\r\n\r\n'
    "data:first\ndata: second\n\ndata:  kept\r\rretry: 10\ndata\ndata: \n\ndata: [DONE]"
).encode()
EVENTS = ['{"text": "Grüße 🌍"}', "first\nsecond", " kept", "[DONE]"]


def decoded(pieces: list[bytes]) -> list[str]:
    decoder = Decoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.end()


@given(st.lists(st.integers(0, len(RECORDED)), max_size=12))
def test_cuts_mean_nothing(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(RECORDED)]
    pieces = [RECORDED[start:end] for start, end in pairwise(places)]
    assert decoded(pieces) == EVENTS


def test_byte_by_byte() -> None:
    assert decoded([bytes([byte]) for byte in RECORDED]) == EVENTS


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_event_is_given_as_soon_as_it_is_complete(end: bytes) -> None:
    decoder = Decoder()
    assert decoder.feed(b"data: a" + end) == []
    assert decoder.feed(end + b"data: b") == ["a"]
    assert decoder.feed(end + end) == ["b"]


def test_broken_utf8_is_replaced() -> None:
    assert decoded([b"data: \xff\xfe!\n\n"]) == ["��!"]
