"""Bodies that are taken, and why others are not."""

from __future__ import annotations

import json

import pytest

from sessions.api.base import DEEPEST, BadBody, parsed


def test_what_json_has_is_taken() -> None:
    deep = b"[" * DEEPEST + b"]" * DEEPEST
    wide = b"[" + b",".join([b"{}"] * 1000) + b"]"
    assert parsed(b'{"a":"\\ud83d\\ude00","b":[1,-1.5e3,null]}') == {
        "a": "\U0001f600",
        "b": [1, -1500.0, None],
    }
    assert parsed(b'"\\\\ud800"') == "\\ud800"
    assert parsed(b"9223372036854775807") == 2**63 - 1
    assert parsed(deep)
    assert len(parsed(wide)) == 1000


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "not JSON"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b'"\\ud800"', "half a character"),
        (b'{"\\uDFFF":1}', "half a character"),
        (b"9223372036854775808", "too large"),
        (b"-" + b"9" * 5000, "too large"),
        (b"1e999", "no number"),
        (b"[NaN]", "no number"),
        (b"-Infinity", "no number"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "levels deep"),
        (b"[" * 100_000, "levels deep"),
    ],
)
def test_what_is_refused_is_told(body: bytes, why: str) -> None:
    with pytest.raises(BadBody, match=why):
        parsed(body)


@pytest.mark.parametrize(
    "many",
    [
        b"[" + b"1," * 1_000_000 + b"1]",
        b"{" + b",".join(b'"%d":{}' % number for number in range(300_000)) + b"}",
        b"[" * 1_000_000,
        b'["' + b'\\"' * 1_000_000 + b'",' + b"[]," * 200_000 + b"1]",
        b'{"a":' * 300_000,
    ],
)
def test_a_body_of_a_million_values_is_not_read(many: bytes) -> None:
    with pytest.raises(BadBody, match="more than 50,000 values"):
        parsed(many)


def test_a_long_text_is_one_value() -> None:
    text = "a, [b], {c}, \\" * 500_000
    assert parsed(json.dumps({"text": text, "list": list(range(20_000))}).encode())["text"] == text
