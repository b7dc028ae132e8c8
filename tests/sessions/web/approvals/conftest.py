from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def pages_alone(settings: pytest.FixtureRequest) -> None:
    """No guard and no other room."""
    settings.MIDDLEWARE = []  # type: ignore[attr-defined]
