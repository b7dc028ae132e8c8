"""Fetching, pulling and pushing, with what the remote says."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError

_USUAL = "origin"
_CHOSEN = ("pull.rebase", "pull.ff", "branch.{}.rebase")
"""Settings by which a person says how branches come together."""


def remotes(git: Git) -> list[str]:
    return git.asked("remote").splitlines()


def fetch(git: Git) -> str:
    """From all remotes. Raises GitError."""
    return git.write("fetch", "--all", seconds=REMOTE_SECONDS) or "Nothing new."


def pull(git: Git) -> str:
    """As it is configured, else only forward. Raises GitError."""
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    chosen = any(git.asked("config", "--get", key.format(branch)) for key in _CHOSEN)
    only = () if chosen else ("--ff-only",)
    return git.write("pull", "--no-edit", *only, seconds=REMOTE_SECONDS)


def push(git: Git) -> str:
    """The branch to the one it follows; the first time to one of its name, which it then follows. Raises
    GitError."""
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    if not branch:
        raise GitError("No branch is checked out.")
    followed = git.asked("config", "--get", f"branch.{branch}.remote")
    known = remotes(git)
    remote = followed or (_USUAL if _USUAL in known else next(iter(known), ""))
    if remote not in known:
        raise GitError("There is no remote to push to.")
    if _is_within(git, remote):
        raise GitError(
            "This remote lies in the working tree itself: its hooks would run. Push from a terminal."
        )
    upstream = git.asked("config", "--get", f"branch.{branch}.merge")
    how = () if followed and upstream else ("--set-upstream", remote, branch)
    return git.write("push", *how, seconds=REMOTE_SECONDS)


def _is_within(git: Git, remote: str) -> bool:
    """Whether the repository brings its remote along."""
    urls = git.asked("remote", "get-url", "--push", "--all", remote).splitlines()
    places = (unquote(urlsplit(url).path) if url.startswith("file:") else url for url in urls)
    return any(
        (git.top / place).resolve().is_relative_to(git.top.resolve()) for place in places if _is_path(place)
    )


def _is_path(place: str) -> bool:
    """git-push(1), GIT URLS: what has a colon before its first slash is on another machine."""
    return ":" not in Path(place).parts[0] if Path(place).parts else False
