"""The session page: hostile names, paging, hidden output."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import Message
from sessions.web.pages.conversation import PAGE
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

STATEMENTS = 38
"""Of a page: each is a way there and back where the database is elsewhere."""
NASTY = "a\"b\n<script>alert(1)</script>'.js"


async def page(client: AsyncClient, url: str) -> str:
    response = await client.get(url)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


def shown(html: str) -> list[str]:
    return re.findall(r'<article id="(msg_\w+)"', html)


async def test_hostile_names_are_text_everywhere(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / NASTY.replace("/", "_"), title=NASTY)
    prompt = await talk.prompt(NASTY, summary={"diffs": [{"file": NASTY, "additions": 1, "deletions": 0}]})
    answer = await talk.answer(prompt, finish="stop", time={"created": 1, "completed": 2}, agent=NASTY)
    done = {"status": "completed", "input": {"filePath": NASTY}, "output": NASTY, "title": NASTY}
    tool = await talk.part(
        answer, "tool", callID="c", tool=NASTY, state=done | {"time": {"start": 1, "end": 2}}
    )
    await talk.part(prompt, "file", mime=NASTY, url="javascript:alert(1)", filename=NASTY)
    for url in (talk.url, f"{talk.url}/parts/{tool.id}/output", "/?choose"):
        html = await page(async_client, url)
        assert "<script>alert" not in html
        assert "javascript:" not in html


async def test_sound_is_played_and_other_files_are_only_downloaded(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt()
    answer = await talk.answer(prompt, finish="stop", time={"created": 1, "completed": 2})
    ids = {"id": "prt_f", "sessionID": talk.session.id, "messageID": answer, "type": "file"}
    attachments = [
        ids | {"mime": "audio/wav", "url": "data:audio/wav;base64,UklGRg=="},
        ids | {"mime": "text/html", "url": "data:text/html;base64,PGI+", "filename": "../a\n.html"},
        ids | {"mime": "audio/wav", "url": "https://elsewhere/a.wav", "filename": "away"},
        ids | {"mime": "audio/ogg", "url": "data:audio/ogg;base64,???"},
    ]
    done = {"status": "completed", "input": {}, "output": "", "title": "", "attachments": attachments}
    state = done | {"time": {"start": 1, "end": 2}}
    tool = await talk.part(answer, "tool", callID="c", tool="speaks", state=state)
    html = await page(async_client, talk.url)
    files = f"{talk.url}/parts/{tool.id}/files"
    assert re.findall(r'<audio [^>]*src="([^"]*)"', html) == [f"{files}/0", f"{files}/3"]
    assert "elsewhere" not in html
    assert f"{files}/2" not in html
    sound = await async_client.get(f"{files}/0")
    assert (sound.content, sound["Content-Type"]) == (b"RIFF", "audio/wav")
    other = await async_client.get(f"{files}/1")
    assert (other.content, other["Content-Type"]) == (b"<b>", "application/octet-stream")
    assert other["Content-Disposition"] == 'attachment; filename="a.html"'
    assert other["Content-Security-Policy"].startswith("sandbox")
    for number in (2, 3, 4):
        assert (await async_client.get(f"{files}/{number}")).status_code == 404
    file = await talk.part(prompt, "file", mime="audio/wav", url="data:audio/wav;base64,UklGRg==")
    assert f'src="{talk.url}/parts/{file.id}/files/0"' in await page(async_client, talk.url)


async def test_a_long_session_opens_by_one_page_and_is_paged_upward(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await talk.prompt()
    small = await queries(async_client, talk.url)
    assert small <= STATEMENTS
    rows = [
        Message(id=f"msg_{n:012x}x", session=talk.session, role="user", time_created=1, data=_DATA)
        for n in range(2000)
    ]
    await in_db(Message.objects.bulk_create, rows)
    assert await queries(async_client, talk.url) == small
    html = await page(async_client, talk.url)
    assert len(shown(html)) == PAGE
    seen = shown(html)
    while found := re.search(r'id="older"[^>]*hx-get="([^"]+)"', html):
        html = await page(async_client, found[1])
        seen = shown(html) + seen
    assert len(seen) == 2001
    assert seen == sorted(set(seen))


_DATA = {
    "time": {"created": 1},
    "agent": "build",
    "model": {"providerID": "demo", "modelID": "scripted"},
}


async def queries(client: AsyncClient, url: str) -> int:
    """How often a page asks the database."""
    said: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        said.append(sql)
        return execute(sql, *more)

    await in_db(lambda: connection.execute_wrappers.append(note))
    try:
        await page(client, url)
    finally:
        await in_db(lambda: connection.execute_wrappers.remove(note))
    return len(said)


async def test_output_is_loaded_on_opening_and_cleaned(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await talk.answer(await talk.prompt())
    output = "\x1b[31mred\x1b[0m\x07" + "z" * 3_000_000
    state = {"status": "completed", "input": {"command": "x"}, "output": output, "title": "x"}
    part = await talk.part(
        answer, "tool", callID="c", tool="bash", state=state | {"time": {"start": 1, "end": 2}}
    )
    assert "zzz" not in await page(async_client, talk.url)
    html = await page(async_client, f"{talk.url}/parts/{part.id}/output")
    assert "red\u2407zzz" in html
    assert len(html) < 700_000


async def test_a_prompt_tells_what_was_done_for_it_also_on_other_pages(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt()
    for number in range(PAGE + 1):
        answer = await talk.answer(prompt, finish="tool-calls")
        state = {"status": "completed", "input": {"filePath": f"{number}.py"}, "output": "", "title": ""}
        span = {"time": {"start": 1000 * number, "end": 1000 * number + 500}}
        await talk.part(answer, "tool", callID="c", tool="read", state=state | span)
    html = await page(async_client, talk.url)
    assert html.count(f'data-turn="{prompt}"') == PAGE
    assert "data-fold-turn" not in html
    older = re.search(r'id="older"[^>]*hx-get="([^"]+)"', html)
    assert older is not None
    above = await page(async_client, older[1])
    assert re.search(rf'data-fold-turn="{prompt}"[^>]*title="Read {PAGE + 1} files"', above)
    assert "12.5 s" in above


@pytest.mark.parametrize("path", ["/p/nope/", "/p/nope/s/ses_x", "/nope"])
async def test_what_is_unknown_gets_a_friendly_page(async_client: AsyncClient, path: str) -> None:
    response = await async_client.get(path)
    assert response.status_code == 404
    assert "Nothing here" in response.content.decode()


async def test_a_session_is_seen_in_its_own_project_only(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "one")
    other = await Talk.begin(tmp_path / "two")
    url = f"/p/{other.project.id}/s/{talk.session.id}"
    assert (await async_client.get(url)).status_code == 404
    assert (await async_client.post(f"{url}/delete")).status_code == 404
    assert (await async_client.get(talk.url)).status_code == 200
