"""Tags and submodules of real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.changes.git import submodules, tags
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.status import status
from tests.sessions.changes.git.conftest import git


def test_a_tag_is_made_deleted_and_brought_back(top: Path, ours: Git) -> None:
    tags.make(ours, "v1/plain")
    tags.make(ours, "v2", "The <second>\n\nwith a body")
    found = {tag.name: tag for tag in tags.tags(ours)}
    assert {name: tag.annotated for name, tag in found.items()} == {"v1/plain": False, "v2": True}
    assert found["v2"].subject == "The <second>"
    second = found["v2"]
    with pytest.raises(GitError):
        tags.delete(ours, second.ref, "0" * 40)
    tags.delete(ours, second.ref, second.address)
    assert [tag.name for tag in tags.tags(ours)] == ["v1/plain"]
    tags.restore(ours, second.ref, second.address)
    assert git(top, "tag", "--list", "-n", "v2").split() == ["v2", "The", "<second>"]
    with pytest.raises(GitError):
        tags.restore(ours, second.ref, second.address)
    with pytest.raises(GitError, match="already exists"):
        tags.make(ours, "v2")


@pytest.mark.parametrize("name", ["", "-d", "a..b", "a b", "x.lock"])
def test_a_name_that_no_tag_may_have(ours: Git, name: str) -> None:
    with pytest.raises(GitError, match="no name"):
        tags.make(ours, name)


@pytest.mark.parametrize("ref", ["refs/heads/main", "main", "-d", ""])
def test_nothing_but_a_tag_is_deleted_as_one(top: Path, ours: Git, ref: str) -> None:
    with pytest.raises(GitError, match="no such tag"):
        tags.delete(ours, ref, git(top, "rev-parse", "main").strip())


@pytest.fixture
def nested(top: Path, tmp_path: Path) -> Path:
    """A clone of a repository with the submodule `sub`, which is empty."""
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(top, "commit", "-qm", "with a submodule")
    git(tmp_path, "clone", "-q", str(top), "clone")
    return tmp_path / "clone"


@pytest.fixture
def by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person has submodules fetched from folders of this machine."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_a_submodule_is_not_fetched_from_a_folder_of_this_machine(nested: Path) -> None:
    git(nested, "config", "protocol.file.allow", "always")  # the repository's word does not count
    with pytest.raises(GitError, match="transport 'file' not allowed"):
        submodules.update(Git(nested), "sub")


@pytest.mark.usefixtures("by_path")
def test_a_submodule_is_fetched_and_brought_back_to_what_is_recorded(nested: Path, tmp_path: Path) -> None:
    there = Git(nested)
    (found,) = submodules.submodules(there)
    assert (found.path, found.url, found.state) == ("sub", str(tmp_path / "inner"), "empty")
    submodules.update(there, "sub")
    assert submodules.submodules(there)[0].state == "as recorded"
    git(nested / "sub", "commit", "-q", "--allow-empty", "-m", "second")
    (found,) = submodules.submodules(there)
    assert found.state == "at another commit"
    assert found.here == git(nested / "sub", "rev-parse", "HEAD").strip()
    submodules.update(there, "sub")
    assert submodules.submodules(there)[0].here == found.commit
    with pytest.raises(GitError, match="no such submodule"):
        submodules.update(there, "--all")


def test_no_submodule_is_updated_before_the_repository_is_trusted(nested: Path, tmp_path: Path) -> None:
    git(nested, "config", "submodule.sub.update", f"!echo ran > {tmp_path}/canary #")
    with pytest.raises(GitError, match="not trusted"):
        submodules.update(Git(nested), "sub")
    assert not (tmp_path / "canary").exists()
    assert submodules.submodules(Git(nested))[0].state == "empty"


@pytest.mark.usefixtures("by_path")
def test_nothing_in_a_submodule_runs_when_it_is_looked_at(nested: Path, tmp_path: Path) -> None:
    submodules.update(Git(nested), "sub")
    git(nested / "sub", "config", "core.fsmonitor", f"echo ran > {tmp_path}/canary")
    (nested / "sub" / "new").write_text("x")
    submodules.submodules(Git(nested))
    status(Git(nested))
    assert not (tmp_path / "canary").exists()
