"""Django's client for tests of pages without a server."""

from __future__ import annotations

from typing import Any

from django.test import AsyncClient


class GuardedClient(AsyncClient):
    """Its requests are as the guard lets them through, without a login."""

    async def request(self, **request: Any) -> Any:
        return await super().request(principal=None, **request)
