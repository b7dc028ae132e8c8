from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    """The pages without the rooms around them: no guard, no API, no pickers."""
    settings.MIDDLEWARE = []
