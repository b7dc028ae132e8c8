"""What pages are told when a language server says something."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.store import added_folders
from sessions.core.store.rows import session_wire
from sessions.rendering.messages import Place
from sessions.web.live.live import LivePage
from sessions.web.problems.panel import SAID
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_page_learns_the_files_and_reads_the_review_only_for_those_it_shows(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    page = LivePage(talk.session.project_id, talk.session.id, Place.of(talk.session))
    events = [
        bus.Event("lsp.client.diagnostics", {"serverID": server, "path": path})
        for server, path in (("ruff", "/p/b.py"), ("ruff", '/p/"a".py'), ("pyright", "/p/b.py"))
    ]
    said, news = (await page.apply(events)).html
    assert (
        'beforeend:#problems-said"><i data-path="/p/&quot;a&quot;.py"></i><i data-path="/p/b.py"></i>' in said
    )
    assert 'id="problems-news"' in news


async def test_the_page_hears_of_files_in_folders_beside_the_project_that_may_be_written(
    tmp_path: Path,
) -> None:
    talk, library = await Talk.begin(tmp_path / "project"), tmp_path / "library"
    library.mkdir()
    page = LivePage(talk.session.project_id, talk.session.id, Place.of(talk.session))
    said = bus.Event(SAID, {"serverID": "ruff", "path": f"{library}/b.py"}, project_id="other")
    edited = bus.Event("file.edited", {"sessionID": "s", "file": f"{library}/b.py"}, project_id="other")
    assert not page.wants(said)

    session = await in_db(lambda: added_folders.add(talk.session, library.resolve(), write=True))
    assert session is not None
    info = await in_db(lambda: session_wire(session))
    await page.apply([bus.Event("session.updated", {"info": info}, session_id=session.id)])
    assert page.wants(said)
    assert page.wants(edited)
    assert not page.wants(bus.Event(SAID, {"path": f"{library}-2/b.py"}, project_id="other"))
    assert not page.wants(bus.Event("session.updated", {}, project_id="other", session_id=session.id))
    assert "data-path" in (await page.apply([said])).html[0]
