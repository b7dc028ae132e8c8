"""An operation holds what it holds for as long as it takes."""

from __future__ import annotations

import asyncio

import pytest

from sessions.changes.operations import lock
from sessions.core.db import in_db
from sessions.core.models import Session
from tests.sessions.changes.review.world import World, fresh


async def test_the_lease_of_an_operation_is_renewed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LEASE_SECONDS", 0.3)
    session = await world.session()

    async def until(moment: int) -> Session:
        while True:
            row = await fresh(session)
            if row.lease_until > moment:
                return row
            await asyncio.sleep(0.01)

    async with lock.leased(session), asyncio.timeout(20):
        first = await until(0)
        later = await until(first.lease_until)
        assert later.lease_owner == first.lease_owner
    assert (await fresh(session)).lease_owner == ""
    assert await in_db(Session.objects.filter(lease_until__gt=0).count) == 0
