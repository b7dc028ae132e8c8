from tests.sessions.changes.worktrees.conftest import hooked, world

__all__ = ["hooked", "world"]
