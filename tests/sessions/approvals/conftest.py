from __future__ import annotations

import pytest

from tests.sessions.review.conftest import world

__all__ = ["world"]


@pytest.fixture(autouse=True)
def pages_alone(settings: pytest.FixtureRequest) -> None:
    """No guard and no other room."""
    settings.ROOT_URLCONF = "tests.sessions.approvals.urls"  # type: ignore[attr-defined]
    settings.MIDDLEWARE = []  # type: ignore[attr-defined]
