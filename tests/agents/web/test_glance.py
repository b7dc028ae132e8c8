"""The work of a session at a glance."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient

from agents.llm.types import Model, Price, Usage
from agents.web.glance import _next
from sessions.core.db import in_db
from sessions.core.store import sessions as session_store
from sessions.core.store import todos
from sessions.core.wire.session import TodoInfo
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_it_has_what_there_is(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    page = (await async_client.get(f"{talk.url}/glance")).content.decode()
    assert "Files changed" in page
    for absent in ("To do", "Subagents", "Goal", "Context"):
        assert absent not in page
    listed = [
        TodoInfo(content=f"<{text}>", status=text, priority="high") for text in ("completed", "pending")
    ]
    await in_db(todos.replace, talk.session, listed)
    await in_db(
        session_store.create, talk.project, str(tmp_path / "project"), title="<child>", parent=talk.session.id
    )
    tokens = {"input": 600, "output": 50, "reasoning": 0, "cache": {"read": 400, "write": 0}}
    await talk.answer(await talk.prompt(), tokens=tokens, cost=0.5)
    page = (await async_client.get(f"{talk.url}/glance")).content.decode()
    for there in ("To do", "1/2", "&lt;pending&gt;", "Subagents", "&lt;child&gt;", "Context", "cache"):
        assert there in page, there
    assert (await async_client.get(f"/p/{talk.project.id}/s/ses_none/glance")).status_code == 404


def test_the_next_step_costs_less_by_what_is_cached() -> None:
    def model(price: Price) -> Model:
        return Model("p", "m", "M", "openai", "m", price=price)

    usage = Usage(input=100, output=20, cache_read=800, cache_write=100)
    found = _next(1_020, usage, model(Price(input=10.0, output=50.0, cache_read=1.0)))
    assert (found.tokens, found.cached) == (1_020, 900)
    assert found.cost == pytest.approx((120 * 10 + 900 * 1) / 1_000_000)
    assert _next(1_020, usage, model(Price())).cost is None
    assert _next(1_020, usage, None).cost is None
