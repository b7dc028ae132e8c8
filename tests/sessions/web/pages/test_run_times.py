"""How long turns took on the page and in the timeline: without the time that a person took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.test import AsyncClient

from sessions.changes.history.timeline import conversation_moments
from sessions.core.db import in_db
from sessions.core.models import PermissionRequest, QuestionRequest
from sessions.core.store import sessions as session_store
from sessions.core.store import waits
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def waited(model: type[models.Model], session_id: str, since: int, until: int | None) -> None:
    kind: dict[str, Any] = {"questions": []}
    if model is PermissionRequest:
        kind = {"permission": "bash", "patterns": []}
    about = {"id": f"{session_id[:20]}{since}", "session_id": session_id, **kind}
    await in_db(model._default_manager.create, **about, time_created=since, time_answered=until)


async def test_the_time_of_a_turn_is_without_the_waits(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt(time={"created": 10_000})
    await talk.answer(prompt, finish="stop", time={"created": 10_000, "completed": 70_000})
    below = await in_db(
        session_store.create, talk.project, talk.session.directory, title="Below", parent=talk.session.id
    )
    await waited(PermissionRequest, talk.session.id, 5_000, 20_000)  # ten seconds of it in the turn
    await waited(QuestionRequest, talk.session.id, 30_000, 40_000)
    await waited(PermissionRequest, below.id, 35_000, 45_000)  # half of it beside the question
    await waited(PermissionRequest, talk.session.id, 60_000, None)
    spans = await in_db(waits.of, talk.session.id)
    assert list(spans) == [(5_000, 20_000), (30_000, 45_000)]
    page = (await async_client.get(talk.url)).content.decode()
    assert 'title="and 25.0 s in which it waited for you">35.0 s' in page
    (turn,) = await in_db(conversation_moments, talk.session)
    assert turn.took == 35_000
