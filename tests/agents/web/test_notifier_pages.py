"""The page of notifiers: making one, trying it, what is shown of it, and whose it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sessions.core.db import in_db
from sessions.core.models import Notifier
from sessions.core.store import notifiers
from sessions.core.store.notifiers import Target
from tests.guarded import GuardedClient
from tests.loopback.hooks import HookServer
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/settings/notifiers"


@pytest_asyncio.fixture(autouse=True)
async def talk(tmp_path: Path, settings: Any) -> Talk:
    settings.MIDDLEWARE = []
    return await Talk.begin(tmp_path / "project")


async def post(act: str, status: int = 200, **given: Any) -> str:
    answer = await GuardedClient().post(f"{PAGE}/{act}", given)
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


async def made(**more: Any) -> Notifier:
    given = {"format": "slack", "name": "Team", "address": "http://127.0.0.1:9/T/B/zq7x", "kinds": "asks"}
    await post("save", **{**given, **more})
    return await in_db(Notifier.objects.get)


async def test_what_is_made_is_shown_without_its_secrets() -> None:
    await made()
    text = (await GuardedClient().get(PAGE)).content.decode()
    assert "Team" in text
    assert "127.0.0.1:9" in text
    assert "zq7x" not in text
    assert "Nothing told yet" in text


async def test_each_format_has_its_fields() -> None:
    for format, label in (
        ("matrix", "Room"),
        ("email", "To"),
        ("json", "webhook-signature"),
        ("ntfy", "Topic"),
    ):
        answer = await GuardedClient().get(f"{PAGE}/form", {"format": format})
        assert label in answer.content.decode()
    assert (await GuardedClient().get(f"{PAGE}/form", {"format": "push"})).status_code == 404


async def test_a_change_keeps_what_is_left_empty() -> None:
    row = await made(wait="5", quiet_from="22:00", quiet_until="07:00")
    await post("save", id=row.id, name="Mine", kinds=["done", "goal"], quiet_from="", quiet_until="")
    row = await in_db(Notifier.objects.get)
    assert (row.name, row.kinds, row.wait, row.quiet_from) == ("Mine", ["done", "goal"], 0, "")
    assert await in_db(notifiers.target_of, row) == Target("http://127.0.0.1:9/T/B/zq7x")
    assert row.base == "http://testserver"


async def test_the_test_button_says_how_it_went() -> None:
    async with HookServer() as hook:
        row = await made(address=f"{hook.url}/x")
        assert "Team was told." in await post("test", id=row.id)
        assert (await hook.body())["text"].startswith("*A test of opencode-web*")
        hook.answers(403)
        assert "It answered 403 Forbidden." in await post("test", id=row.id)


async def test_one_is_switched_off_and_on_and_removed() -> None:
    row = await made()
    assert "Switch on" in await post("switch", id=row.id)
    assert "Switch off" in await post("switch", id=row.id, on="1")
    await post("remove", id=row.id)
    assert await in_db(Notifier.objects.count) == 0
    await post("remove", 404, id=row.id)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"address": "ftp://x/y"}, "begins with https://"),
        ({"kinds": ""}, "Choose what is told"),
        ({"wait": "soon"}, "as a number"),
        ({"wait": "99999"}, "1440 minutes at most"),
        ({"quiet_from": "22:00"}, "a beginning and an end"),
        ({"base": "https://user@x"}, "Links lead to an address"),
        ({"base": "https://x/path"}, "Links lead to an address"),
        ({"format": "matrix", "to": "!r:x"}, "needs its secret"),
    ],
)
async def test_what_is_wrong_is_said_beside_the_form(wrong: dict[str, str], words: str) -> None:
    given = {"format": "slack", "name": "T", "address": "http://x/y", "kinds": "asks", **wrong}
    assert words in await post("save", 422, **given)
    assert await in_db(Notifier.objects.count) == 0


async def test_a_team_sets_up_no_commands(settings: Any) -> None:
    settings.PEOPLE = True
    await post("save", 404, format="command", name="T", address="true", kinds="asks")


async def test_one_of_another_person_is_not_there() -> None:
    row = await made()
    await in_db(Notifier.objects.filter(id=row.id).update, person="another")
    text = (await GuardedClient().get(PAGE)).content.decode()
    assert "Team" not in text
    for act in ("test", "switch", "remove", "save"):
        await post(act, 404, id=row.id)
