"""`/vcs` and `/file/status`: what git says of a project."""

from __future__ import annotations

from ninja import Router

router = Router()
