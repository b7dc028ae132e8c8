"""Marks of a review: what is viewed is a person's own, what is kept is so for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.models import Session
from sessions.core.store import marks, projects
from sessions.core.store import sessions as session_store


@pytest.fixture
def session(tmp_path: Path, transactional_db: None) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))


def test_what_is_viewed_is_ones_own(session: Session) -> None:
    for actor in ("Ada", "Grace"):
        marks.put(session, "viewed", actor, add=["a", "b"])
    marks.put(session, "viewed", "Ada", remove=["a"])
    assert marks.of_session(session.id, "Ada").viewed == {"b"}
    assert marks.of_session(session.id, "Grace").viewed == {"a", "b"}
    assert marks.of_session(session.id, "").viewed == set()


def test_what_is_kept_is_kept_for_all(session: Session) -> None:
    marks.put(session, "kept", "Ada", add=["a"])
    marks.put(session, "kept", "Grace", add=["a", "b"])
    assert marks.of_session(session.id, "").kept == {"a", "b"}
    marks.put(session, "kept", "Grace", remove=["a"])
    assert marks.of_session(session.id, "Ada").kept == {"b"}


def test_one_login_has_marks_of_its_own(session: Session) -> None:
    marks.put(session, "viewed", "", add=["a"])
    assert marks.of_session(session.id, "").viewed == {"a"}
