"""The browser's socket over real rows and events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from sessions.core.db import in_db
from sessions.core.store import events, messages, todos
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status, TodoInfo
from sessions.rendering.blocks import render_whole
from sessions.web import socket
from sessions.web.live import changes
from sessions.web.socket import websocket_urlpatterns
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "".join(f"Paragraph {n} with **words**.\n\n" for n in range(12))


ME = {"kind": "cookie"}


class Tab:
    """A browser tab: connects, reads frames, and knows what it was shown of a part."""

    def __init__(self, talk: Talk, since: int, *, session: str = "", principal: object = ME) -> None:
        url = f"/ws/p/{talk.project.id}/?session={session or talk.session.id}&since={since}"
        self.socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), url)
        scope: dict[str, object] = self.socket.scope  # type: ignore[assignment]
        scope["principal"] = principal
        self.frames: list[dict[str, Any]] = []

    async def __aenter__(self) -> Tab:
        await self.socket.connect()
        await self.frame()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.disconnect()

    async def frame(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await self.socket.receive_from(timeout=5))
        self.frames.append(frame)
        return frame

    async def until(self, wanted: str) -> str:
        """All HTML so far, once it has the wanted text."""
        while wanted not in self.html:
            await self.frame()
        return self.html

    async def closed_until(self, part_id: str, wanted: str) -> str:
        """The closed blocks of a part, once they have the wanted text."""
        while wanted not in self.closed(part_id):
            await self.frame()
        return self.closed(part_id)

    @property
    def html(self) -> str:
        return "".join(frame.get("html", "") for frame in self.frames)

    def closed(self, part_id: str) -> str:
        """What stands in the closed blocks of a part (of plain paragraphs) by now."""
        shown = ""
        pattern = rf'(id="{part_id}-closed"[^>]*|beforeend:#{part_id}-closed")>(.*?)</div>'
        for match in re.finditer(pattern, self.html, re.DOTALL):
            shown = match[2] if match[1].startswith("id=") else shown + match[2]
        return shown


async def begun(tmp_path: Path) -> tuple[Talk, str]:
    talk = await Talk.begin(tmp_path / "project")
    return talk, await talk.answer(await talk.prompt())


async def test_a_stranger_and_another_projects_session_are_refused(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "one")
    other = await Talk.begin(tmp_path / "two")
    for tab, code in ((Tab(talk, 0, principal=None), 4401), (Tab(talk, 0, session=other.session.id), 4404)):
        await tab.socket.connect()
        assert (await tab.socket.receive_output())["code"] == code


async def test_text_streams_block_by_block(tmp_path: Path) -> None:
    talk, answer = await begun(tmp_path)
    async with Tab(talk, await in_db(events.latest)) as tab:
        part = await talk.text(answer, "")
        for at in range(0, len(TEXT), 10):
            talk.delta(part, TEXT[at : at + 10], at)
        await tab.until("Paragraph 10 ")
        await talk.text(answer, TEXT, ended=True, id=part.id)
        assert await tab.closed_until(part.id, "Paragraph 11 ") == render_whole(TEXT)


async def test_opened_in_mid_stream_nothing_is_doubled_or_missing(tmp_path: Path) -> None:
    """The row is 100 characters on, 200 were sent before the tab came: 100 are in no delta it gets."""
    talk, answer = await begun(tmp_path)
    part = await talk.text(answer, "")
    await talk.fold(part, TEXT[:100])
    async with Tab(talk, await in_db(events.latest)) as tab:
        talk.delta(part, TEXT[200:260], 200)
        await tab.until("Paragraph 2 ")
        await talk.fold(part, TEXT[:230])
        await tab.until("Paragraph 7 ")
        talk.delta(part, TEXT[240:], 240)
        await talk.text(answer, TEXT, ended=True, id=part.id)
        assert await tab.closed_until(part.id, "Paragraph 11 ") == render_whole(TEXT)


async def test_an_answer_that_begins_while_the_rows_are_read_has_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text is in a row by then, the message itself after what was looked for."""
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt()
    begun: list[str] = []

    async def read(function: Callable[..., Any], *given: Any) -> Any:
        found = await in_db(function, *given)
        if function is changes.changes_after:
            begun.append(await talk.answer(prompt))
            begun.append((await talk.text(begun[0], "Looked ")).id)
        return found

    monkeypatch.setattr("sessions.web.live.live.in_db", read)
    async with Tab(talk, await in_db(events.latest)) as tab:
        await tab.until("Looked")
        made = [each["id"] for frame in tab.frames for each in frame.get("missing", ())]
        assert list(dict.fromkeys(made)) == begun


async def test_the_page_is_told_that_the_line_holds_while_a_gap_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "HEARTBEAT", 0.3)
    talk, answer = await begun(tmp_path)
    part = await talk.text(answer, "")
    async with Tab(talk, await in_db(events.latest)) as tab:
        talk.delta(part, "later", 100)
        while await tab.frame() != {}:
            pass


async def test_coming_back_brings_what_changed_once(tmp_path: Path) -> None:
    talk, answer = await begun(tmp_path)
    cursor = await in_db(events.latest)
    part = await talk.text(answer, "early")
    await talk.text(answer, "late <b>", ended=True, id=part.id)
    state = {"status": "pending", "input": {}, "raw": ""}
    await talk.part(answer, "tool", callID="c", tool="todowrite", state=state)
    await in_db(todos.replace, talk.session, [TodoInfo(content="Mend it")])
    async with Tab(talk, cursor) as tab:
        html = tab.html
        assert html.count(f'id="{part.id}"') == 1
        assert "late &lt;b&gt;" in html
        assert "early" not in html
        assert "Mend it" in html
        assert tab.frames[0]["seq"] == await in_db(events.latest)
        assert tab.frames[0]["missing"][0]["parent"] == f"{answer}-parts"


async def test_a_cursor_older_than_the_log_gets_a_refresh(tmp_path: Path) -> None:
    talk, _ = await begun(tmp_path)
    cursor = await in_db(events.latest)
    for _ in range(3):
        await talk.prompt()
    await in_db(events.prune, 2)
    async with Tab(talk, cursor) as tab:
        assert tab.frames[0]["refresh"] is True


async def test_a_frame_that_no_message_can_hold_is_a_refresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.web.socket.LARGEST_FRAME", 20_000)
    talk, answer = await begun(tmp_path)
    cursor = await in_db(events.latest)
    await talk.text(answer, "word " * 10_000, ended=True)
    async with Tab(talk, cursor) as tab:
        assert tab.frames[0] == {"seq": None, "refresh": True}


async def test_pictures_come_by_their_address(tmp_path: Path) -> None:
    talk, _ = await begun(tmp_path)
    cursor = await in_db(events.latest)
    prompt = await talk.prompt()
    url = "data:image/png;base64," + "A" * 100_000
    part = await talk.part(prompt, "file", mime="image/png", filename="large.png", url=url)
    async with Tab(talk, cursor) as tab:
        html = await tab.until("large.png")
    assert f'src="{talk.url}/parts/{part.id}/files/0"' in html
    assert "base64" not in html


async def test_other_sessions_show_their_state_and_nothing_else(tmp_path: Path) -> None:
    talk, _ = await begun(tmp_path)
    other = await Talk.begin(tmp_path / "project", title="the other")
    answer = await other.answer(await other.prompt())
    part = await other.text(answer, "")
    async with Tab(talk, await in_db(events.latest)) as tab:
        other.delta(part, "a secret of the other", 0)
        await in_db(session_store.set_status, other.session.id, Status(type="busy"))
        html = await tab.until(f'id="{other.session.id}-item"')
        assert 'data-state="working"' in html
        assert "a secret" not in html


async def test_removed_messages_leave(tmp_path: Path) -> None:
    talk, answer = await begun(tmp_path)
    async with Tab(talk, await in_db(events.latest)) as tab:
        await in_db(messages.remove_messages, talk.session.id, answer)
        await tab.until(f'<div id="{answer}" hx-swap-oob="delete">')


async def test_a_removed_part_leaves_also_for_who_comes_back(tmp_path: Path) -> None:
    talk, answer = await begun(tmp_path)
    part = await talk.text(answer, "Gone soon.")
    cursor = await in_db(events.latest)
    async with Tab(talk, cursor) as tab:
        await in_db(messages.remove_part, talk.session.id, answer, part.id)
        await tab.until(f'<div id="{part.id}" hx-swap-oob="delete">')
    async with Tab(talk, cursor) as tab:
        assert f'<div id="{part.id}" hx-swap-oob="delete">' in tab.html


async def test_a_tool_card_of_many_updates_comes_as_it_is_last(tmp_path: Path) -> None:
    talk, answer = await begun(tmp_path)
    async with Tab(talk, await in_db(events.latest)) as tab:
        state: dict[str, Any] = {"status": "running", "input": {"command": "ls <x>"}, "time": {"start": 1}}
        part = await talk.part(answer, "tool", callID="c", tool="bash", state=state)
        done = state | {"status": "completed", "output": "", "title": "ls", "time": {"start": 1, "end": 5000}}
        await talk.part(answer, "tool", id=part.id, callID="c", tool="bash", state=done)
        html = await tab.until('data-status="completed"')
        assert "ls &lt;x&gt;" in html
        assert "<x>" not in html
