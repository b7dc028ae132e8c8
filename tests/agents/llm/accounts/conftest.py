from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from django.conf import settings

from agents.llm.accounts import tokens
from tests.loopback.accounts import AccountServer


@pytest.fixture
def auth_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Our file and OpenCode's, neither of which exists yet."""
    files = [tmp_path / "ours" / "auth.json", tmp_path / "theirs" / "auth.json"]
    files[1].parent.mkdir()
    monkeypatch.setattr(settings, "AUTH_FILES", files)
    yield files
    tokens.ended.clear()


@pytest_asyncio.fixture
async def accounts(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AccountServer]:
    """The account servers, in the place of the public ones."""
    async with AccountServer() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server
