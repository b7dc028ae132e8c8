from __future__ import annotations

from tests.sessions.review.conftest import world

__all__ = ["world"]
