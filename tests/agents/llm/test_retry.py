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


def test_what_is_not_retried() -> None:
    assert delay(ModelError("x", headers={"retry-after": "1"}), 1, NOW) is None
