"""What a new pull request begins with: the message of a single commit, or the repository's template."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.agent.pull_request import beginning, template
from sessions.changes.git.command import Git, GitError
from tests.sessions.changes.git.conftest import git, ours, top

__all__ = ["ours", "top"]


@pytest.fixture
def pushed(top: Path, tmp_path: Path) -> Path:
    """A repository whose main is at a remote, on another branch."""
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(top, "push", "-q", "origin", "main")
    git(top, "switch", "-qc", "me/mend-the-thing")
    return top


def test_a_single_commit_says_it(pushed: Path, ours: Git) -> None:
    git(pushed, "commit", "-q", "--allow-empty", "-m", "Mend it\n\nIt was\nbroken.")
    begun = beginning(ours, "origin", "main")
    assert (begun.title, begun.body, begun.commits) == ("Mend it", "It was\nbroken.", ("Mend it",))


def test_of_several_commits_the_branch_says_it(pushed: Path, ours: Git) -> None:
    for subject in ("One", "Two"):
        git(pushed, "commit", "-q", "--allow-empty", "-m", subject)
    begun = beginning(ours, "origin", "main")
    assert (begun.title, begun.body, begun.commits) == ("Mend the thing", "", ("Two", "One"))


@pytest.mark.parametrize(
    "name",
    [
        ".github/PULL_REQUEST_TEMPLATE.md",
        "docs/pull_request_template.md",
        "PULL_REQUEST_TEMPLATE.md",
        ".gitlab/merge_request_templates/Default.md",
        ".forgejo/pull_request_template.md",
    ],
)
def test_the_template_of_the_last_commit_is_used(pushed: Path, ours: Git, name: str) -> None:
    file = pushed / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("## Why\n")
    assert template(ours) == ""
    git(pushed, "add", ".")
    git(pushed, "commit", "-qm", "Add a template")
    file.write_text("not in a commit")
    assert beginning(ours, "origin", "main").body == "## Why"


def test_a_base_that_is_not_known_is_said(pushed: Path, ours: Git) -> None:
    for base in ("elsewhere", "", "--all", "main..HEAD"):
        with pytest.raises(GitError, match="fetch first"):
            beginning(ours, "origin", base)
