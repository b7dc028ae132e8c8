"""The outbox is carried out: at once, again where it failed, and to nobody who may not see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agents.notifiers import outbox
from agents.notifiers.formats import place
from sessions.core import principal
from sessions.core.db import in_db
from sessions.core.models import Delivery, Notifier
from sessions.core.roles import Person, Role
from sessions.core.store import notifiers
from sessions.core.store.notifiers import Choice, Target
from tests.agents.notifiers.browser import Browser
from tests.loopback.hooks import HookServer
from tests.sessions.core.store.test_notifiers import make_due, turn
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def kept(url: str, format: str = "slack", person: str = "", secret: str = "", **more: Any) -> Notifier:
    target = Target(f"{url}/x", secret=secret)
    choice = Choice("Phone", format, target, place(format, target), ["done", "asks"], base="http://h", **more)
    return await in_db(notifiers.save, choice, person)


async def state(notifier: Notifier) -> tuple[str, str]:
    row = await in_db(Notifier.objects.get, id=notifier.id)
    return row.result, row.words


@asynccontextmanager
async def at_work() -> AsyncIterator[None]:
    task = asyncio.create_task(outbox.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_what_happens_is_told_at_once(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    async with HookServer() as hook, at_work():
        await kept(hook.url)
        await turn(talk.session)
        assert "*Done*" in (await hook.body())["text"]
        await turn(talk.session)
        await hook.request(2)


async def test_what_waited_while_nobody_worked_is_told_at_the_start(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    async with HookServer() as hook:
        await kept(hook.url)
        await turn(talk.session)
        async with at_work():
            await hook.request()


async def test_what_failed_is_tried_again_with_the_same_id(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    async with HookServer() as hook:
        notifier = await kept(hook.url, "json", secret="a secret")
        hook.answers(503, 200)
        await turn(talk.session)
        assert await outbox.send_due()
        assert await state(notifier) == ("waiting", 'It answered 503 Service Unavailable. {"ok": true}')
        assert not await outbox.send_due(), "not before its time"
        await make_due()
        assert await outbox.send_due()
        assert await state(notifier) == ("sent", "")
        await make_due()
        assert not await outbox.send_due()
    first, second = hook.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


async def test_one_that_hangs_keeps_no_other_waiting(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    async with HookServer() as slow, HookServer() as quick:
        slow.hold()
        await kept(slow.url)
        await kept(quick.url)
        await turn(talk.session)
        sending = asyncio.create_task(outbox.send_due())
        await quick.request()
        slow.release()
        assert await sending


async def test_a_browser_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    async with HookServer() as service:
        await kept(service.url, "push", secret=Browser().keys)
        service.answers(410)
        await turn(talk.session)
        await outbox.send_due()
    assert await in_db(Notifier.objects.count) == 0


async def test_nobody_is_told_of_a_project_that_they_do_not_see(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PEOPLE = True
    monkeypatch.setenv("OPENCODE_WEB_PRIVATE_HOSTS", "1")
    talk = await Talk.begin(tmp_path / "project")
    people = {
        "sees": Person("1", "sees", Role.SEE),
        "not": Person("2", "not", Role.SEE, {talk.project.id: Role.NOTHING}),
    }
    monkeypatch.setattr(principal, "_people", [people.get])
    async with HookServer() as hook:
        for name in ("sees", "not", "switched off"):
            await kept(hook.url, person=name)
        await turn(talk.session)
        while await outbox.send_due():
            pass
    assert len(hook.requests) == 1
    assert await in_db(Delivery.objects.filter(state="waiting").count) == 0


async def test_a_test_says_how_it_went(tmp_path: Path) -> None:
    async with HookServer() as hook:
        notifier = await kept(hook.url)
        assert await outbox.test(notifier) == ""
        assert "Phone works" in (await hook.body())["text"]
        hook.answers(404)
        assert "404" in await outbox.test(notifier)
    assert (await state(notifier))[0] == "failed"
