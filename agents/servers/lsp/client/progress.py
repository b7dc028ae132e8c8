"""What a language server says that it is at work on (LSP 3.17, "Work Done Progress")."""

from __future__ import annotations

import asyncio
import time
from typing import Any

MOST = 50
_SHOWN = 200


class Progress:
    """By the tokens of the server."""

    def __init__(self) -> None:
        self._work: dict[str, dict[str, Any]] = {}
        self._begun: dict[str, float] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def busy(self, since: float) -> bool:
        """Whether it is at work on something that it began after a time of `time.monotonic`."""
        return any(begun >= since for begun in self._begun.values())

    async def idle(self) -> None:
        """Until it is at work on nothing."""
        await self._idle.wait()

    def words(self) -> str:
        """What was begun last, as `Indexing: 3/10 (30 %)`; empty when it is at work on nothing."""
        if not self._work:
            return ""
        work = next(reversed(self._work.values()))
        text = ": ".join(str(work[name]) for name in ("title", "message") if work.get(name))
        share = work.get("percentage")
        return f"{text[:_SHOWN]} ({share} %)" if isinstance(share, int) else text[:_SHOWN]

    def report(self, params: Any) -> None:
        """ProgressParams; what is no work done progress is passed over. Raises KeyError, TypeError."""
        token, value = str(params["token"]), params["value"]
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin" and len(self._work) < MOST:
            self._work[token] = dict(value)
            self._begun[token] = time.monotonic()
        elif kind == "report" and token in self._work:
            self._work[token] |= value
        elif kind == "end":
            self._work.pop(token, None)
            self._begun.pop(token, None)
        if self._work:
            self._idle.clear()
        else:
            self._idle.set()
