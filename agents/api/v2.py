"""`/api/agent`, `/api/model`, `/api/provider`, `/api/command`, `/api/skill`."""

from __future__ import annotations

from ninja import Router

router = Router()
