"""The servers as a pytest fixture for tests that have no event loop: import `loopback` in a conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.loopback.server import LoopbackServer

Start = Callable[[LoopbackServer], LoopbackServer]


@pytest.fixture
def loopback() -> Iterator[Start]:
    """`server = loopback(OpenAIServer([Turn(text="hi")]))`: runs in a thread until the test ends."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(server.in_thread())
