from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.toolkit.sandbox.scene import Scene, scene


@pytest.fixture(scope="module")
def place() -> Iterator[Scene]:
    with scene() as made:
        yield made
