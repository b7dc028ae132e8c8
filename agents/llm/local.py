"""What was last found on loopback, kept for a minute and asked again in the background.

Threads and no event loop: two loops of the process share it.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from agents.llm.discovery import ENDPOINTS, Endpoint, discover

Found = Mapping[str, Mapping[str, Any]]

KEPT = 60.0
"""Seconds an answer counts as fresh."""
SWITCH = "OPENCODE_WEB_NO_DISCOVERY"
"""Environment variable that, when set, keeps us from asking anybody."""


_NOTHING: Found = {}


class Local:
    """The answers of the local model servers."""

    def __init__(self, endpoints: Mapping[str, Endpoint] = ENDPOINTS) -> None:
        self._endpoints = endpoints
        self._lock = threading.Lock()
        self._asking: Future[Found] | None = None
        self._found: Found = _NOTHING
        self._until = float("-inf")

    def latest(self) -> Found:
        """The last answer at once, empty before the first; a stale one is asked for again meanwhile.

        The object stays the same as long as the answer does.
        """
        self._refresh()
        return self._found

    async def wait(self) -> Found:
        """A fresh answer; what it takes is bounded by the servers' timeout."""
        asking = self._refresh()
        if asking is not None:
            await asyncio.wrap_future(asking)
        return self._found

    def _refresh(self) -> Future[Found] | None:
        """The question that is under way, begun when the answer is stale; None while it is fresh."""
        if os.environ.get(SWITCH):
            self._found = _NOTHING
            return None
        with self._lock:
            if self._asking is None and time.monotonic() >= self._until:
                self._asking = Future()
                # Running from the start: whoever is cancelled while waiting must not cancel it for others.
                self._asking.set_running_or_notify_cancel()
                threading.Thread(
                    target=self._ask, args=(self._asking,), name="discovery", daemon=True
                ).start()
            return self._asking

    def _ask(self, asking: Future[Found]) -> None:
        found = self._found
        try:
            found = asyncio.run(discover(self._endpoints))
        finally:
            with self._lock:
                if found != self._found:
                    self._found = found
                self._until = time.monotonic() + KEPT
                self._asking = None
            asking.set_result(self._found)


local = Local()
