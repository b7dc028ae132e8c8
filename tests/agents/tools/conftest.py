from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.tools.context import DirectContext


@pytest.fixture
def context(tmp_path: Path) -> DirectContext:
    """A context whose project is `tmp_path/project` (real path, no git)."""
    worktree = (tmp_path / "project").resolve()
    outputs = (tmp_path / "tool-output").resolve()
    worktree.mkdir()
    outputs.mkdir()
    return DirectContext(directory=worktree, worktree=worktree, output_directory=outputs)
