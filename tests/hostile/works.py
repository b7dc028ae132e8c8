"""Works for the other process. Nothing heavy is imported here, because that process imports it."""

from __future__ import annotations

import os
import sys

from sessions.core.offload import offload

SECONDS = 0.3


@offload(over=0, seconds=SECONDS)
def endless(text: str) -> str:
    while True:
        text = text[::-1]


@offload(over=0, seconds=5)
def greedy(text: str) -> int:
    return len(text * 10**12)


@offload(over=0, seconds=5)
def deep(text: str) -> str:
    return deep.__wrapped__(text)  # type: ignore[attr-defined, no-any-return]


@offload(over=0, seconds=5)
def process(text: str) -> int:
    os.write(1, text.encode())  # as a package may print
    return os.getpid()


@offload(over=0, seconds=5)
def environment(text: str) -> list[str]:
    return [*os.environ.values(), *sys.argv]
