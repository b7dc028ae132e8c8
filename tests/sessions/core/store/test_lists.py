"""Lists of sessions as JSON: what their rows say now, though it was encoded before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.core.models import Project, Session
from sessions.core.store import lists, projects
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import session_wire, worktree_of
from sessions.core.wire import ours

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    yield projects.open_project(tmp_path)
    worktree_of.cache_clear()


def listed(project: Project, *, own: bool = False) -> list[object]:
    found: list[object] = json.loads(lists.encoded(lists.matching(project), own=own))
    return found


def test_a_list_has_what_each_session_has(project: Project) -> None:
    plain = session_store.create(project, project.worktree)
    rich = session_store.create(project, f"{project.worktree}/sub", title="Ünïcode")
    Session.objects.filter(id=rich.id).update(
        agent="build",
        cost=0.5,
        metadata={"a": [1, None]},
        model_id="m",
        parent=plain,
        permission=[{"permission": "*", "pattern": "*", "action": "ask"}],
        provider_id="p",
        revert={"messageID": "msg_1", "diff": ""},
        share_base="http://localhost",
        share_token="secret",
        staging=True,
        time_archived=1,
    )
    rows = list(lists.matching(project, archived=True))
    wires = [session_wire(row) for row in rows]
    for own in (True, False):
        found = json.loads(lists.encoded(lists.matching(project, archived=True), own=own))
        assert found == [wire if own else ours.session(wire) for wire in wires]
    assert lists.wires(lists.matching(project, archived=True)) == wires
    assert wires != [ours.session(wire) for wire in wires]


def test_it_is_never_of_before(project: Project) -> None:
    row = session_store.create(project, project.worktree, title="one")
    assert [info["title"] for info in listed(project)] == ["one"]  # type: ignore[index]
    Session.objects.filter(id=row.id).update(title="two")
    assert [info["title"] for info in listed(project)] == ["two"]  # type: ignore[index]
    Project.objects.filter(id=project.id).update(worktree="/elsewhere")
    worktree_of.cache_clear()
    assert "path" not in listed(project)[0]  # type: ignore[operator]


def test_nobody_and_none(project: Project) -> None:
    session_store.create(project, project.worktree)
    assert lists.encoded(lists.matching(project)[:0], own=False) == "[]"
    assert lists.encoded(lists.matching(project, search="no such"), own=False) == "[]"
