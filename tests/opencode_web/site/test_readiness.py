"""Whether a process says that it can serve."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import AsyncRequestFactory

from opencode_web.site import readiness


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it outlives a test, and the database is asked each time."""
    monkeypatch.setattr(readiness, "_runs", None)
    monkeypatch.setattr(readiness, "_database", readiness._Database())
    monkeypatch.setattr(readiness, "SECONDS", 0.0)


async def status() -> int:
    answer = await readiness.show(AsyncRequestFactory().get("/ready"))
    assert answer.content == b""
    return answer.status_code


@pytest.mark.django_db(transaction=True)
async def test_from_when_its_work_has_begun_until_it_ends() -> None:
    works = True
    assert await status() == 503
    readiness.begin(lambda: works)
    assert await status() == 204
    works = False
    assert await status() == 503, "its thread of turns has died"
    works = True
    readiness.end()
    assert await status() == 503


async def test_not_while_the_database_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("the server closed the connection")

    readiness.begin(lambda: True)
    monkeypatch.setattr(readiness, "_look", away)
    assert await status() == 503


async def test_the_database_is_not_asked_by_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(readiness, "_look", lambda: asked.append(True))
    monkeypatch.setattr(readiness, "SECONDS", 60.0)
    readiness.begin(lambda: True)
    assert [await status() for _ in range(5)] == [204] * 5
    assert len(asked) == 1
