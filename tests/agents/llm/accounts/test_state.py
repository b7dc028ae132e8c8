"""How it stands with a provider."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.config.schema import Config
from agents.llm.accounts import attempts, keeping
from agents.llm.accounts.flows.base import Begun, Inputs, Method
from agents.llm.accounts.state import state
from agents.llm.auth import Entry


async def test_a_sign_in_that_ends_while_the_entries_are_read_still_waits(
    auth_files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = asyncio.Event()

    async def finish() -> Entry:
        await brought.wait()
        return {"type": "api", "key": "of-the-plugin"}

    async def begin(inputs: Inputs) -> Begun:
        return Begun("https://acme.invalid", "", finish, 60)

    attempt = await attempts.begin("acme", Method("acme-0", "Acme", "Sign in", begin), {})
    read = keeping.entries

    async def read_before() -> dict[str, Entry]:
        before = await read()
        brought.set()
        assert attempt.task is not None
        await attempt.task
        return before

    monkeypatch.setattr(keeping, "entries", read_before)
    seen = await state("acme", Config(provider={"acme": {"name": "Acme"}}), {})
    assert seen is not None
    assert (seen.by, seen.waiting) == ("", attempt)
    monkeypatch.setattr(keeping, "entries", read)
    seen = await state("acme", Config(provider={"acme": {"name": "Acme"}}), {})
    assert seen is not None
    assert (seen.by, seen.waiting, seen.failed) == ("key", None, "")
    await attempts.cancel("acme")
