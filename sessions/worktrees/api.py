"""`/experimental/worktree`: working trees beside the project."""

from __future__ import annotations

from ninja import Router

router = Router()
