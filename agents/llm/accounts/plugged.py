"""What plugins add at providers, by folder: ways to sign in, and how a request is made of what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from agents.config.configuration import configured
from agents.llm.accounts.flows.base import Method
from agents.llm.types import Account


@dataclass(frozen=True, slots=True, eq=False)
class Plugged:
    """Of one provider. `account` makes its requests from an entry of any type; None: the entry does."""

    methods: Sequence[Method]
    account: Account | None


Found = Mapping[str, Plugged]
"""By provider."""
Load = Callable[[Path], Awaitable[None]]

_NONE: Found = {}
_added: dict[Path, Found] = {}
_load: list[Load] = []


def register(load: Load) -> None:
    """How the plugins of a folder are loaded, from any loop."""
    _load[:] = [load]


def add(directory: Path, found: Found) -> None:
    """All that the plugins of a folder add, in the place of what was known."""
    before = _added.pop(directory, _NONE)
    if found:
        _added[directory] = found
    if before or found:
        configured(directory)


def latest(directory: Path) -> Found:
    """What is known of a folder now; the same object while it stays."""
    return _added.get(directory, _NONE)


async def of(directory: Path) -> Found:
    """The same once its plugins are loaded; those that take long are not waited for."""
    if _load:
        loading = asyncio.ensure_future(_load[0](directory))
        done, _ = await asyncio.wait({loading}, timeout=2 * settings.HOOK_SECONDS)
        for task in done:
            task.result()
    return latest(directory)
