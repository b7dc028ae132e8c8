"""In which language a page comes: by HTTP, by its socket, and for two readers of one session at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.template import engines
from django.utils.translation import get_language, gettext, override

from opencode_web import languages
from opencode_web.asgi import application
from sessions.core.db import in_db
from sessions.core.store import events
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from sessions.rendering.blocks import render_whole
from sessions.web.templatetags import page
from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


@pytest.mark.parametrize(
    ("chosen", "accepted", "code"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "en-GB,de;q=0.9", "en"),
        ("", "tlh,*;q=0.5", "en"),
        ("", "tlh, de;q=0.3", "de"),
        ("en", "de", "en"),
        ("de", "en", "de"),
        ("tlh", "de", "de"),
        ("../../etc", "x" * 900, "en"),
    ],
)
def test_what_was_chosen_counts_before_what_the_browser_asks_for(
    chosen: str, accepted: str, code: str
) -> None:
    assert languages.wanted(chosen, accepted) == code
    headers = [(b"cookie", f"a=b; language={chosen}".encode()), (b"accept-language", accepted.encode())]
    assert languages.of_scope({"headers": headers}) == code


@pytest.mark.django_db(transaction=True)
async def test_a_page_is_in_the_readers_language() -> None:
    client = GuardedClient()
    german = await client.get("/settings", headers=GERMAN)
    text = german.content.decode()
    assert (german.status_code, german.headers["Content-Language"]) == (200, "de")
    assert '<html lang="de"' in text
    assert "<h1>Einstellungen</h1>" in text
    assert "/words/de.js" in text
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "en"
    english = (await client.get("/settings", headers=GERMAN)).content.decode()
    assert '<html lang="en"' in english
    assert "<h1>Settings</h1>" in english
    assert "/words/" not in english
    assert get_language() == "en"


@pytest.mark.django_db(transaction=True)
async def test_the_protocol_is_in_english(tmp_path: Path) -> None:
    client = GuardedClient()
    answer = await client.get("/session/ses_nothing", headers=GERMAN)
    assert answer.status_code == 404
    assert "Content-Language" not in answer.headers
    assert (
        json.loads(answer.content)["data"]["message"]
        == json.loads((await client.get("/session/ses_nothing")).content)["data"]["message"]
    )


async def test_what_is_rendered_on_the_orms_thread_is_in_the_callers_language() -> None:
    with override("de", deactivate=True):
        assert await in_db(gettext, "Settings") == "Einstellungen"
        assert await asyncio.to_thread(gettext, "Settings") == "Einstellungen"
    assert await in_db(gettext, "Settings") == "Settings"


class Tab:
    """The socket of a page, as the whole application answers it."""

    def __init__(self, talk: Talk, since: int, *headers: tuple[bytes, bytes]) -> None:
        path = f"/ws/p/{talk.project.id}/?session={talk.session.id}&since={since}"
        self.socket = WebsocketCommunicator(application, path, headers=list(headers))
        scope: dict[str, object] = self.socket.scope  # type: ignore[assignment]
        scope["principal"] = {"csrf": ""}
        self.html = ""

    async def __aenter__(self) -> Tab:
        await self.socket.connect()
        await self.frame()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.disconnect()

    async def frame(self) -> None:
        frame: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=5))
        self.html += frame.get("html", "")

    async def until(self, wanted: str) -> None:
        while wanted not in self.html:
            await self.frame()


@pytest.mark.django_db(transaction=True)
async def test_two_readers_of_a_session_have_it_each_in_their_language(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await talk.answer(await talk.prompt())
    since = await in_db(events.latest)
    german = Tab(talk, since, (b"accept-language", b"de"))
    english = Tab(talk, since, (b"accept-language", b"de"), (b"cookie", b"language=en"))
    async with german, english:
        await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
        await german.until('title="Anhalten (zweimal Esc)"')
        await english.until('title="Stop (Esc twice)"')
        await talk.text(answer, "```python\nx\n```\n", ended=True)
        await german.until(">Kopieren</button>")
        await english.until(">Copy</button>")
        assert ">Copy</button>" not in german.html
        assert ">Kopieren</button>" not in english.html
        assert 'title="Arbeitet"' in german.html
        assert 'title="Working"' in english.html


def test_markdown_is_cached_by_language() -> None:
    text = "| a |\n|---|\n| b |\n"
    assert 'aria-label="Table"' in render_whole(text)
    with override("de"):
        assert 'aria-label="Tabelle"' in render_whole(text)
        assert 'aria-label="Tabelle"' in render_whole(text + "\nMore words.\n" * 3000), "by the other process"
    assert 'aria-label="Table"' in render_whole(text)


def test_numbers_are_for_machines_unless_a_filter_writes_them_for_people() -> None:
    template = engines["django"].from_string(
        '<i style="--x: {{ x }}" data-n="{{ n }}">'
        "{{ n|grouped }} {{ n|tokens }} {{ x|cost }} {{ n|duration }}</i>"
    )
    given = {"x": 0.5, "n": 1234567}
    assert template.render(given) == (
        '<i style="--x: 0.5" data-n="1234567">1,234,567 1.2M $0.50 20 min 34 s</i>'
    )
    with override("de"):
        assert template.render(given) == (
            '<i style="--x: 0.5" data-n="1234567">1.234.567 1,2M 0,50 $ 20 min 34 s</i>'
        )
        assert page.duration(4200) == "4,2 s"
        assert page.moment(1_700_000_000_000) == "14. Nov, 22:13:20 UTC"
    assert page.moment(1_700_000_000_000) == "14 Nov, 22:13:20 UTC"


def test_plurals() -> None:
    template = engines["django"].from_string(
        "{% blocktranslate count count=n %}{{ count }} session{% plural %}"
        "{{ count }} sessions{% endblocktranslate %}"
    )
    assert [template.render({"n": n}) for n in (0, 1, 2)] == ["0 sessions", "1 session", "2 sessions"]
    with override("de"):
        assert [template.render({"n": n}) for n in (0, 1, 2)] == ["0 Sitzungen", "1 Sitzung", "2 Sitzungen"]
