"""Bodies that are taken, and why others are not."""

from __future__ import annotations

import pytest

from sessions.wire.parsing import DEEPEST, BadBody, parsed


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
