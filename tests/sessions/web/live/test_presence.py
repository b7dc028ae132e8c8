"""Who looks at a session and who writes in it, for as long as their pages are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core import bus
from sessions.core.models import Session
from sessions.core.store import projects
from sessions.core.store import sessions as session_store
from sessions.web.live import presence as module
from sessions.web.live.presence import CHANGED, Presence


@pytest.fixture
def session(tmp_path: Path, transactional_db: None) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))


def seen(presence: Presence, session: Session, by: str) -> list[tuple[str, bool]]:
    shown = presence.shown(session.id, by)
    return [
        (name, f'title="{name} writes"' in shown) for name in ("Ada", "Grace") if f'title="{name} ' in shown
    ]


async def test_others_are_seen_while_they_look(session: Session) -> None:
    presence = Presence()
    with presence.looks(session, "Ada"), presence.looks(session, "Grace"):
        with presence.looks(session, "Grace"):  # in a second tab
            assert seen(presence, session, "Ada") == [("Grace", False)]
        assert seen(presence, session, "Ada") == [("Grace", False)]
        assert seen(presence, session, "Grace") == [("Ada", False)]
    assert seen(presence, session, "Ada") == []


async def test_who_writes_is_told_once_and_again_when_they_stop(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITES_SECONDS", 0.01)
    presence = Presence()
    presence.writes(session, "Grace")  # without a page of it: a client that says so is nobody here
    assert seen(presence, session, "Ada") == []
    with presence.looks(session, "Grace"):
        async with bus.subscribe(wants=lambda event: event.type == CHANGED) as mailbox:
            for _ in range(3):
                presence.writes(session, "Grace")
            assert seen(presence, session, "Ada") == [("Grace", True)]
            assert len(await mailbox.take(5)) == 1
            assert len(await mailbox.take(5)) == 1
            assert seen(presence, session, "Ada") == [("Grace", False)]
            presence.writes(session, "Grace")
            presence.stops(session, "Grace")
            presence.stops(session, "Grace")
            assert len(await mailbox.take(5)) == 2
        presence.writes(session, "Grace")
    with presence.looks(session, "Grace"):
        assert seen(presence, session, "Ada") == [("Grace", False)]
