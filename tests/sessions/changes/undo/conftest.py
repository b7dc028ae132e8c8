"""A worktree with an agent that records what it does, as the tools do."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectStore


@dataclass
class Agent:
    worktree: Path
    store: ObjectStore
    changes: list[Change] = field(default_factory=list)

    def write(self, path: str, content: bytes | None, mode: int | None = None) -> None:
        """Write a file (None: remove it), give it a mode, and record the change."""
        before, mode_before = self._seen(path)
        target = self.worktree / path
        made = [parent for parent in target.parents if not parent.exists()]
        if content is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        if mode is not None:
            target.chmod(mode)
        after, mode_after = self._seen(path)
        self.changes.append(Change(path, before, after, mode_before, mode_after, new_folders=len(made)))

    def _seen(self, path: str) -> tuple[str | None, int | None]:
        target = self.worktree / path
        if target.is_symlink():
            return self.store.put(os.fsencode(target.readlink())), 0o120000
        if not target.exists():
            return None, None
        executable = target.stat().st_mode & 0o100
        return self.store.put(target.read_bytes()), 0o100755 if executable else 0o100644


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    (tmp_path / "work").mkdir()
    return Agent(tmp_path / "work", ObjectStore(tmp_path / "store"))
