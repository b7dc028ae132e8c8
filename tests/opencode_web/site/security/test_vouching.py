"""What a front says of a request, and who believes it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from opencode_web.site.security.vouching import SECONDS, vouch, vouched

KEY = "a key"
SAID: dict[str, Any] = {
    "principal": {"kind": "cookie", "session": "abc", "csrf": "00"},
    "client": "10.0.0.1",
    "scheme": "https",
}


def test_what_was_said_is_read() -> None:
    read = vouched(KEY, "GET", "/n/one/", vouch(KEY, "GET", "/n/one/", SAID))
    assert read is not None
    assert {name: read[name] for name in SAID} == SAID


@pytest.mark.parametrize(
    ("key", "method", "path"),
    [
        ("another", "GET", "/n/one/"),
        (KEY, "POST", "/n/one/"),
        (KEY, "GET", "/n/one/p"),
        ("", "GET", "/n/one/"),
    ],
)
def test_it_is_of_one_request(key: str, method: str, path: str) -> None:
    assert vouched(key, method, path, vouch(KEY, "GET", "/n/one/", SAID)) is None


def test_nobody_without_a_key_vouches() -> None:
    assert vouched("", "GET", "/", vouch("", "GET", "/", SAID)) is None


@pytest.mark.parametrize("value", [b"", b".", b"x.y", b"e30=", b"e30=.", b"\xff.\xff", b"bnVsbA==.00"])
def test_what_only_looks_like_it_is_nothing(value: bytes) -> None:
    assert vouched(KEY, "GET", "/", value) is None


def test_it_is_soon_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    said = vouch(KEY, "GET", "/", SAID)
    clock = time.time() + SECONDS
    monkeypatch.setattr(time, "time", lambda: clock - 5)
    assert vouched(KEY, "GET", "/", said)
    monkeypatch.setattr(time, "time", lambda: clock + 5)
    assert vouched(KEY, "GET", "/", said) is None
