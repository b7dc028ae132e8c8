"""Folders beside the project: which can be added, how they are called, whose they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.core.models import Session
from sessions.core.store import added_folders, forks, projects
from sessions.core.store import sessions as session_store
from sessions.core.store.added_folders import Refused, checked
from sessions.core.store.rows import session_wire

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    folder = tmp_path / "project"
    folder.mkdir()
    return session_store.create(projects.project_of(folder), str(folder))


def add(session: Session, path: Path) -> dict[str, str]:
    path.mkdir(parents=True, exist_ok=True)
    row = added_folders.add(session, path)
    assert row is not None
    return {folder.name: str(folder.path) for folder in added_folders.of(row)}


def test_each_has_a_name_of_its_own(session: Session, tmp_path: Path) -> None:
    (tmp_path / "project" / "lib").mkdir()
    assert add(session, tmp_path / "lib") == {"lib-2": str(tmp_path / "lib")}, "the project has a lib"
    assert list(add(session, tmp_path / "a" / "library")) == ["lib-2", "library"]
    assert list(add(session, tmp_path / "b" / "library")) == ["lib-2", "library", "library-2"]
    assert list(add(session, tmp_path / "b" / "library")) == ["lib-2", "library", "library-2"], "once"
    row = added_folders.remove(session, "library")
    assert row is not None
    assert [folder.name for folder in added_folders.of(row)] == ["lib-2", "library-2"]


def test_they_are_of_all_sessions_of_a_tree_and_of_a_fork(session: Session, tmp_path: Path) -> None:
    before = session_store.create(session.project, session.directory, parent=session.id)
    known = add(before, tmp_path / "library")
    after = session_store.create(session.project, session.directory, parent=session.id)
    source = session_store.get(session.id)
    assert source is not None
    fork = forks.fork(source)
    for id in (session.id, before.id, after.id, fork.id):
        row = session_store.get(id)
        assert row is not None
        assert {folder.name: str(folder.path) for folder in added_folders.of(row)} == known
        assert session_wire(row)["folders"] == [{"name": "library", "path": str(tmp_path / "library")}]


def test_what_cannot_be_added_is_refused_in_words(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "people" / "me"))
    project = tmp_path / "project"
    (project / "within").mkdir()
    (tmp_path / "people" / "me").mkdir(parents=True)
    (tmp_path / "file.txt").touch()
    (tmp_path / "link").symlink_to(project / "within")
    refused = {
        " ": "Give the path",
        "../none": "There is no folder",
        "../file.txt": "is a file",
        "within": "in the project already",
        "../link": "in the project already",
        "..": "the project is in it",
        "/etc": "belongs to the system",
        "~/..": "your whole home folder is in it",
        "~user-who-is-not-there": "cannot be read",
    }
    for given, words in refused.items():
        with pytest.raises(Refused, match=words):
            checked(given, project, project)
    (tmp_path / "library").mkdir()
    assert checked(" ../library ", project, project) == tmp_path / "library"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_one_that_may_not_be_read(session: Session, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(Refused, match="you may not read it"):
        checked(str(closed), tmp_path / "project", tmp_path / "project")


def test_one_that_may_be_written_is_a_project_apart(session: Session, tmp_path: Path) -> None:
    project, library = tmp_path / "project", tmp_path / "library"
    (library / "inner" / ".git").mkdir(parents=True)
    added_folders.add(session, checked(str(library), project, project, write=True), write=True)
    row = added_folders.add(session, library, write=True)
    assert row is not None
    assert session_wire(row)["folders"] == [{"name": "library", "path": str(library), "write": True}]
    with pytest.raises(Refused, match="one of them is in the other"):
        added_folders.add(row, checked(str(library / "inner"), project, project, write=True), write=True)
    row = added_folders.add(row, library)
    assert row is not None
    assert [folder.write for folder in added_folders.of(row)] == [False], "the last word counts"
    (library / ".git").mkdir()
    (library / "part").mkdir()
    with pytest.raises(Refused, match="is in the repository"):
        checked(str(library / "part"), project, project, write=True)
