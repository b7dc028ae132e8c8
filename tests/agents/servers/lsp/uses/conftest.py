from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.config.configuration import load
from agents.servers.lsp.service import service
from tests.agents.servers.lsp.uses.places import Configured
from tests.agents.tools.context import DirectContext, turn_in


@pytest.fixture
async def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Configured]:
    """A context in a project whose configuration is given by name; no server is left afterwards."""
    worktree, outputs = tmp_path / "project", tmp_path / "tool-output"
    worktree.mkdir()
    outputs.mkdir()

    def context(**config: object) -> DirectContext:
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(config))
        made = DirectContext(directory=worktree, worktree=worktree, output_directory=outputs)
        made.session_id = f"ses_{tmp_path.name}"
        made.turn = turn_in(worktree, worktree, config=load(worktree).config)
        return made

    yield context
    await service.close()
