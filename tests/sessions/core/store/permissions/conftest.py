from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.models import Session
from sessions.core.store import projects
from sessions.core.store import sessions as session_store


@pytest.fixture
def session(tmp_path: Path, transactional_db: None) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))
