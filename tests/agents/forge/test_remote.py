"""Where a repository is, by its remotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.forge.remote import Address, address_of, branch_of, hosted
from agents.forge.shapes import ForgeError
from sessions.changes.git.command import Git
from tests.sessions.changes.git.conftest import git, ours, top

__all__ = ["ours", "top"]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("git@github.com:acme/widget.git", Address("github.com", "acme/widget")),
        ("github.com:acme/widget", Address("github.com", "acme/widget")),
        ("ssh://git@GitHub.com:22/acme/widget.git/", Address("github.com", "acme/widget")),
        ("ssh://git@ssh.github.com:443/acme/widget", Address("github.com", "acme/widget")),
        ("https://me:token@gitlab.com/a/group/widget.git", Address("gitlab.com", "a/group/widget")),
        ("https://git.example.org:8443/acme/widget", Address("git.example.org:8443", "acme/widget")),
        ("https://git.example.org:443/acme/widget", Address("git.example.org", "acme/widget")),
        ("/srv/git/widget.git", None),
        ("../widget", None),
        ("file:///srv/git/widget.git", None),
        ("https://github.com/widget", None),
        ("https://github.com/acme/..", None),
        ("https://github.com/acme/widget?x", Address("github.com", "acme/widget")),
        ("https://github.com/acme/wi%0adget", None),
        ("https://github.com:port/acme/widget", None),
        ("ext::sh -c whoami", None),
        ("", None),
    ],
)
def test_addresses_of_remotes(url: str, found: Address | None) -> None:
    assert address_of(url) == found


def test_the_repository_that_a_fork_was_made_of_comes_first(top: Path, ours: Git) -> None:
    git(top, "remote", "add", "origin", "git@github.com:me/widget.git")
    found = hosted(ours)
    assert (found.host.name, found.path, found.remote, found.forked) == (
        "github.com", "me/widget", "origin", False
    )  # fmt: skip
    git(top, "remote", "add", "upstream", "https://github.com/acme/widget")
    found = hosted(ours)
    assert (found.path, found.source, found.forked) == ("acme/widget", "me/widget", True)


def test_a_remote_that_git_rewrites_is_found(top: Path, ours: Git) -> None:
    git(top, "config", "url.https://codeberg.org/.insteadOf", "cb:")
    git(top, "remote", "add", "origin", "cb:acme/widget")
    assert hosted(ours).host.kind == "forgejo"


def test_a_forge_below_a_path(top: Path, ours: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_WEB_FORGES", "gitlab=https://example.org/git")
    git(top, "remote", "add", "origin", "https://example.org/git/acme/widget.git")
    assert hosted(ours).path == "acme/widget"


def test_what_is_at_no_forge_is_said(top: Path, ours: Git) -> None:
    with pytest.raises(ForgeError, match="no remote at a forge"):
        hosted(ours)
    git(top, "remote", "add", "origin", "https://git.nowhere.example/acme/widget")
    with pytest.raises(ForgeError, match=r"git\.nowhere\.example"):
        hosted(ours)


def test_the_branch_and_whether_the_forge_has_it(top: Path, ours: Git, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", "https://github.com/acme/widget")
    git(top, "remote", "set-url", "--push", "origin", str(tmp_path / "far.git"))
    where = hosted(ours)
    git(top, "switch", "-qc", "topic")
    assert branch_of(ours, where).pushed is False
    git(top, "push", "-q", "--set-upstream", "origin", "topic:far-topic")
    here = branch_of(ours, where)
    assert (here.local, here.name, here.pushed, here.pull) == ("topic", "far-topic", True, 0)
    git(top, "commit", "-q", "--allow-empty", "-m", "more")
    assert branch_of(ours, where).pushed is False
    git(top, "config", "branch.topic.merge", "refs/pull/7/head")
    assert branch_of(ours, where).pull == 7
    git(top, "switch", "-q", "--detach")
    with pytest.raises(ForgeError, match="No branch"):
        branch_of(ours, where)
