"""What pages are told when a language server says something."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core import bus
from sessions.rendering.messages import Place
from sessions.web.live.live import LivePage
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
