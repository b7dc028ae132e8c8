"""The built-in sources: which files count, in which order, and what they cost when nothing changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.conf import LazySettings

from agents.agent.context.sources import discovery, environment, files
from agents.agent.context.sources.environment import NOTE, tree
from agents.agent.context.sources.files import CUT, Document
from agents.config.trust.reach import Reach
from sessions.core.models import Project, Session
from tests.agents.tools.context import turn_in


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Path:
    path = tmp_path / "home"
    (path / ".config").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(path))
    settings.CONFIG_DIRS = [path / ".config"]
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / "a" / "b").mkdir(parents=True)
    return path


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def texts(documents: list[Document]) -> list[str]:
    return [document.text for document in documents]


def test_global_files_come_first_and_then_one_a_folder_downward(home: Path, project: Path) -> None:
    written(home / ".config" / "AGENTS.md", "global")
    other = written(home / ".claude" / "CLAUDE.md", "of another program")
    written(project.parent / "AGENTS.md", "above the project")
    written(project / "AGENTS.md", " \n")
    written(project / "CLAUDE.md", "root")
    written(project / "CONTEXT.md", "hidden by CLAUDE.md")
    written(project / "a" / "b" / "CONTEXT.md", "leaf")
    found = discovery.ambient(project / "a" / "b", project)
    assert texts(found) == ["global", "root", "leaf"]
    (home / ".config" / "AGENTS.md").unlink()
    assert texts(discovery.ambient(project, project)) == ["of another program", "root"]
    other.unlink()
    assert texts(discovery.ambient(project, project)) == ["root"]


def test_without_project_configuration_the_global_files_remain(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(home / ".config" / "AGENTS.md", "global")
    written(home / "mine.md", "mine")
    written(project / "AGENTS.md", "project")
    monkeypatch.setenv("OPENCODE_DISABLE_PROJECT_CONFIG", "1")
    assert texts(discovery.ambient(project, project)) == ["global"]
    assert discovery.named("AGENTS.md", project, project) == []
    assert texts(discovery.named("~/mine.md", project, project)) == ["mine"]


@pytest.mark.parametrize("variable", ["OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT"])
def test_what_is_claudes_can_be_switched_off(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    written(home / ".claude" / "CLAUDE.md", "of another program")
    written(project / "CLAUDE.md", "root")
    written(project / "CONTEXT.md", "behind it")
    monkeypatch.setenv(variable, "1")
    assert texts(discovery.ambient(project, project)) == ["behind it"]


def test_folders_on_the_way_to_a_file_are_those_of_the_project(home: Path, project: Path) -> None:
    deep = project / "a" / "b"
    assert discovery.below(deep / "one.py", project, project) == [deep, project / "a"]
    assert discovery.below(deep / "one.py", project / "a", project) == [deep]
    assert discovery.below(project / "c" / "one.py", project / "a", project) == [project / "c"]
    assert discovery.below(project / "one.py", project, project) == []
    assert discovery.below(project.parent / "one.py", project, project) == []
    theirs = project / "node_modules" / "theirs" / "index.js"
    assert discovery.below(theirs, project, project) == [], "somebody else's rules are none"


def test_no_project_means_no_folder_above(home: Path, project: Path) -> None:
    written(project / "AGENTS.md", "above")
    written(project / "a" / "AGENTS.md", "here")
    assert texts(discovery.ambient(project / "a", Path("/"))) == ["here"]


def test_entries_of_the_configuration(home: Path, project: Path) -> None:
    written(home / "rules" / "style.md", "style")
    written(project / "docs" / "two.md", "two")
    written(project / "docs" / "one.md", "one")
    written(project / "docs" / "deep" / "three.md", "three")
    written(project / "docs" / "node_modules" / "four.md", "not ours")
    written(project / "a" / "docs" / "nearer.md", "nearer")

    def named(entry: str) -> list[str]:
        return texts(discovery.named(entry, project / "a", project))

    assert named("docs/*.md") == ["one", "two", "nearer"]
    assert named("docs/**/*.md") == ["three", "one", "two", "nearer"]
    assert named("~/rules/*.md") == ["style"]
    assert named(str(project / "docs" / "two.md")) == ["two"]
    assert named("docs/missing.md") == []
    assert named("nowhere/*.md") == []
    assert named("docs/[") == []


def test_a_file_is_read_again_only_when_it_has_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(project / "AGENTS.md", "first")
    assert files.document(path) == Document(str(path), "first")
    opened: list[Path] = []
    original = files._fresh

    def fresh(path: Path, within: Path | None) -> Document | None:
        opened.append(path)
        return original(path, within)

    monkeypatch.setattr(files, "_fresh", fresh)
    assert files.document(path) == Document(str(path), "first")
    assert not opened
    written(path, "second, longer")
    assert files.document(path) == Document(str(path), "second, longer")
    assert opened == [path]


def test_a_large_file_is_cut_and_says_so(project: Path) -> None:
    path = written(project / "AGENTS.md", "é" * files.MAX_BYTES)
    found = files.document(path)
    assert found is not None
    assert found.text.endswith(CUT)
    assert found.text.count("é") == files.MAX_BYTES // 2
    assert "�" not in found.text


def test_what_is_no_text_file_is_left_out(project: Path) -> None:
    os.mkfifo(project / "AGENTS.md")
    (project / "CLAUDE.md").mkdir()
    (project / "CONTEXT.md").symlink_to(project / "missing")
    assert files.first_of(project, discovery.names(), Reach(project)) is None
    raw = project / "latin.md"
    raw.write_bytes(b"caf\xe9")
    assert files.document(raw) == Document(str(raw), "caf�")


def test_the_tree_lists_upper_levels_without_what_git_ignores(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    written(project / ".gitignore", "build/\n*.log\n")
    written(project / "build" / "out.o", "")
    written(project / "trace.log", "")
    written(project / "a" / "b" / "deep.py", "")
    written(project / "a" / "one.py", "")
    written(project / "node_modules" / "left" / "index.js", "")
    assert tree(project).splitlines() == [
        "a/",
        "  b/",
        "    deep.py",
        "  one.py",
        ".gitignore",
    ]
    assert tree(project, limit=3).splitlines() == ["a/", "  b/", "  (and 1 more)", ".gitignore", NOTE]
    assert tree(project, limit=4).splitlines() == ["a/", "  b/", "  one.py", ".gitignore", NOTE]


def test_a_large_folder_leaves_room_to_the_others(project: Path) -> None:
    for number in range(30):
        written(project / "a" / f"{number:02}.py", "")
    for name in ("one.py", "two.py"):
        written(project / "z" / name, "")
    assert tree(project, limit=10).splitlines() == [
        "a/",
        "  b/",
        *(f"  {number:02}.py" for number in range(5)),
        "  (and 25 more)",
        "z/",
        "  one.py",
        "  two.py",
        NOTE,
    ]


async def test_the_start_of_a_session_tells_root_branch_and_what_is_not_committed(project: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
        subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)

    git("init", "-q", "-b", "topic")
    written(project / "one.py", "1\n")
    git("add", ".")
    git("commit", "-q", "-m", "First")
    written(project / "one.py", "2\n")
    for number in range(30):
        written(project / f"new{number:02}.py", "")
    session = Session(id="ses_1", project=Project(id="p", worktree=str(project), vcs="git"))
    [source] = await environment.produce(turn_in(project / "a", project, session=session))
    assert source.once is not None
    status = (await source.once()).partition("</git-status>")[0].splitlines()
    assert status[:4] == ["<git-status>", "## topic", " M one.py", "?? new00.py"]
    assert status[-1] == "(and 11 more)"
    value = await source.load()
    assert isinstance(value, environment.Environment)
    assert source.baseline is not None
    assert f"Root of the project: {project}" in source.baseline(value)


def test_the_tree_of_a_folder_that_is_empty_or_gone(project: Path) -> None:
    assert tree(project / "a" / "b") == ""
    assert tree(project / "missing") == ""
