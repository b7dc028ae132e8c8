"""How long to wait."""

from __future__ import annotations

import pytest

from agents.agent.steps.trouble import delay
from agents.llm.types import ModelError

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("headers", "attempt", "seconds"),
    [
        ({}, 1, 2),
        ({}, 2, 4),
        ({}, 4, 16),
        ({}, 5, 30),
        ({}, 5000, 30),
        ({"retry-after-ms": "1500", "retry-after": "60"}, 3, 1.5),
        ({"retry-after": "60"}, 1, 60),
        ({"retry-after": "0.25"}, 1, 0.25),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, 1, 10),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 1, 0),
        ({"retry-after": "Tue, 14 Nov 2023 23:13:30 GMT", "date": "Tue, 14 Nov 2023 23:13:20 GMT"}, 1, 10),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT", "date": "once"}, 1, 10),
        ({"retry-after": "-5"}, 1, 0),
        ({"retry-after": "99999999999"}, 1, 2147483.647),
        ({"retry-after": "soon"}, 2, 4),
        ({"retry-after": "nan"}, 2, 4),
    ],
)
def test_the_delay(headers: dict[str, str], attempt: int, seconds: float) -> None:
    assert delay(ModelError("x", headers=headers, retryable=True), attempt, NOW) == seconds


@pytest.mark.parametrize(
    ("message", "body", "seconds"),
    [
        ("", '[{"error": {"details": [{"@type": "google.rpc.RetryInfo", "retryDelay": "27s"}]}}]', 27),
        ("Please retry in 27.3s.", "", 27.3),
        ("Please try again in 1m2.5s. Visit …", "", 62.5),
        ("Please try again in 250ms.", "", 0.25),
        ("Try again in 3 minutes", "", 180),
        ("Please try again in a while", "", 2),
    ],
)
def test_a_delay_in_words(message: str, body: str, seconds: float) -> None:
    error = ModelError(message, body=body, retryable=True)
    assert delay(error, 1, NOW) == seconds
    assert delay(ModelError(message, headers={"retry-after": "1"}, body=body, retryable=True), 1, NOW) == 1


def test_what_is_not_retried() -> None:
    assert delay(ModelError("x", headers={"retry-after": "1"}), 1, NOW) is None
