"""A project keeps its identity (docs/decisions/0002)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sessions.core.models import Project, Session
from sessions.core.store import events, projects, sessions

pytestmark = pytest.mark.django_db


def repository(path: Path) -> Path:
    path.mkdir()
    (path / "a").write_text(path.name)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", path.name]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=path, check=True)
    return path


def test_a_folder_inside_a_repository_is_the_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "thing")
    (root / "src").mkdir()
    assert projects.open_project(root / "src").id == projects.open_project(root).id


def test_a_repository_that_moved_keeps_its_id(tmp_path: Path) -> None:
    root = repository(tmp_path / "before")
    known = projects.open_project(root).id
    moved = projects.open_project(root.rename(tmp_path / "after"))
    assert moved.id == known
    assert moved.worktree == str(tmp_path / "after")


def test_sessions_of_a_repository_that_moved_work_where_it_is(tmp_path: Path) -> None:
    root = repository(tmp_path / "before")
    known = projects.open_project(root)
    elsewhere = tmp_path / "before-long"
    made = [sessions.create(known, str(folder)).id for folder in (root, root / "src", elsewhere)]
    after = projects.open_project(root.rename(tmp_path / "after"))
    assert after.id == known.id
    found = [Session.objects.get(id=name).directory for name in made]
    assert found == [str(tmp_path / "after"), str(tmp_path / "after" / "src"), str(elsewhere)]
    assert [events.directory_of(name) for name in made] == found


def test_worktrees_of_a_repository_that_moved_are_linked_to_it(tmp_path: Path) -> None:
    known = projects.open_project(repository(tmp_path / "before"))
    folder = tmp_path / "worktree"
    git = ["git", "-C", known.worktree, "worktree", "add", "-q", "-b", "own", str(folder)]
    subprocess.run(git, check=True)
    projects.add_worktree(projects.worktree_row(known, folder, "own"))
    projects.open_project((tmp_path / "before").rename(tmp_path / "after"))
    asked = ["git", "-C", str(folder), "rev-parse", "--git-common-dir"]
    answer = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == str(tmp_path / "after" / ".git")


def test_a_new_folder_in_a_moved_projects_old_place_is_another_project(tmp_path: Path) -> None:
    first = projects.open_project(repository(tmp_path / "app"))
    moved = projects.open_project((tmp_path / "app").rename(tmp_path / "app-old"))
    new = projects.open_project(repository(tmp_path / "app"))
    assert moved.id == first.id != new.id
    assert projects.project_of(tmp_path / "app-old").id == first.id
    assert projects.open_project(tmp_path / "app").id == new.id
    assert Project.objects.get(id=first.id).worktree == str(tmp_path / "app-old")


def test_a_drive_that_is_not_mounted_has_not_moved(tmp_path: Path) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    there = projects.open_project(repository(drive / "thing"))
    subprocess.run(["git", "clone", "-q", str(drive / "thing"), str(tmp_path / "clone")], check=True)
    drive.rename(tmp_path / "unmounted")
    assert projects.open_project(tmp_path / "clone").id != there.id


def test_two_clones_are_two_projects(tmp_path: Path) -> None:
    first = repository(tmp_path / "first")
    subprocess.run(["git", "clone", "-q", str(first), str(tmp_path / "second")], check=True)
    assert projects.open_project(first).id != projects.open_project(tmp_path / "second").id


def test_a_plain_folder_and_what_is_no_folder(tmp_path: Path) -> None:
    assert projects.open_project(tmp_path).vcs == ""
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        projects.open_project(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        projects.open_project(tmp_path / "missing")


def test_looking_a_project_up_opens_what_is_new_and_what_became_a_repository(tmp_path: Path) -> None:
    first = projects.project_of(tmp_path)
    assert projects.project_of(tmp_path).time_updated == first.time_updated
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    found = projects.project_of(tmp_path)
    assert (found.id, found.vcs) == (first.id, "git")
