from __future__ import annotations

from pathlib import Path

import pytest

from sessions.models import Session
from sessions.store import projects
from sessions.store import sessions as session_store


@pytest.fixture
def session(tmp_path: Path, transactional_db: None) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))
