"""How long things are kept, and what goes then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent.runtime import expire_outputs, prune_rows
from agents.toolkit.shared.output import PREFIX
from sessions.core.ids import now
from sessions.core.models import Decision, Session
from sessions.core.retention import before, configured
from sessions.core.store import projects
from sessions.core.store import sessions as session_store

pytestmark = pytest.mark.django_db(transaction=True)

DAY = 24 * 3600 * 1000


def new_session(directory: Path, **columns: Any) -> Session:
    session = session_store.create(projects.open_project(directory), str(directory))
    Session.objects.filter(id=session.id).update(**columns)
    return session


def test_nothing_set_is_as_the_page_says() -> None:
    found = configured({})
    assert (found.events, found.events_days, found.outputs_days) == (50_000, 0, 7)
    assert (found.deleted_days, found.archived_days) == (30, 0)
    assert before(0) == 0
    assert before(1) == pytest.approx(now() - DAY, abs=10_000)


def test_what_is_archived_goes_only_where_that_is_wanted(tmp_path: Path, settings: Any) -> None:
    old = new_session(tmp_path, time_archived=now() - 91 * DAY)
    child = new_session(tmp_path, parent=old)
    kept = [
        new_session(tmp_path, time_archived=now() - 89 * DAY),
        new_session(tmp_path, time_archived=now() - 91 * DAY, time_pinned=now()),
        new_session(tmp_path, time_archived=now() - 91 * DAY, lease_owner="somebody"),
        new_session(tmp_path),
    ]
    settings.RETENTION = configured({})
    prune_rows()
    assert not Session.objects.exclude(time_deleted=None).exists()
    settings.RETENTION = configured({"OPENCODE_WEB_KEEP_ARCHIVED_DAYS": "90"})
    prune_rows()
    assert {row.id for row in Session.objects.exclude(time_deleted=None)} == {old.id, child.id}
    assert session_store.restore(old.id), "they are deleted as by a person, and can be had back"
    assert all(session_store.get(row.id) for row in kept)


def test_deleted_sessions_stay_for_ever_where_that_is_wanted(tmp_path: Path, settings: Any) -> None:
    session = new_session(tmp_path, time_deleted=now() - 31 * DAY)
    settings.RETENTION = configured({"OPENCODE_WEB_KEEP_DELETED_DAYS": "0"})
    prune_rows()
    assert Session.objects.filter(id=session.id).exists()
    settings.RETENTION = configured({})
    prune_rows()
    assert not Session.objects.filter(id=session.id).exists()


def test_outputs(tmp_path: Path, settings: Any) -> None:
    settings.TOOL_OUTPUT_DIR = tmp_path
    output = tmp_path / f"{PREFIX}x"
    output.touch()
    settings.RETENTION = configured({"OPENCODE_WEB_KEEP_OUTPUTS_DAYS": "0"})
    expire_outputs()
    assert output.exists()
    settings.RETENTION = configured({"OPENCODE_WEB_KEEP_OUTPUTS_DAYS": "0.0000000001"})
    expire_outputs()
    assert not output.exists()


def test_the_audit_outlives_its_session(tmp_path: Path, settings: Any) -> None:
    session = new_session(tmp_path, time_deleted=1)
    Decision.objects.create(session_id=session.id, project_id=session.project_id, time_created=1)
    settings.RETENTION = configured({})
    prune_rows()
    assert not Session.objects.filter(id=session.id).exists()
    assert Decision.objects.count() == 1
