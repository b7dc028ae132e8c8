"""The files of a pull request in a worktree, as `opencode-web pr` and the page of the forge have them.

Whoever asks brings git along, as it runs in a folder in the person's name, and the errors that it raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[..., str]
"""git with arguments; what it prints."""
_REFS = ("refs/pull/{}/head", "refs/merge-requests/{}/head")
"""Where GitHub, Forgejo and Gitea have the commits of a pull request, and where GitLab has them."""


@dataclass(frozen=True, slots=True)
class Head:
    """The last commit of a pull request, and where a remote has it."""

    remote: str
    ref: str
    commit: str


def name_of(number: int) -> str:
    """What its worktree is called."""
    return f"pr-{number}"


def title_of(number: int, title: str) -> str:
    """What its session is called."""
    return f"Pull request {number}: {title}" if title else f"Pull request {number}"


def fetch(git: Run, remote: str, number: int) -> Head:
    """Its commits, by git in the repository."""
    git("rev-parse", "--git-dir")  # who is in no repository is told that, and no server is asked
    refs = [ref.format(number) for ref in _REFS]
    there = [line.split("\t")[-1] for line in git("ls-remote", "--", remote, *refs).splitlines()]
    ref = next((ref for ref in refs if ref in there), refs[0])
    git("fetch", "--quiet", "--no-tags", "--", remote, ref)
    return Head(remote, ref, git("rev-parse", "--verify", "FETCH_HEAD^{commit}"))


def fill(git: Run, branch: str, head: Head) -> None:
    """Put its files into a new worktree, by git in there; the branch follows it, so that a pull brings what
    is new. Nothing was changed in it yet, so that nothing is lost."""
    git("reset", "--quiet", "--hard", head.commit)
    git("config", f"branch.{branch}.remote", head.remote)
    git("config", f"branch.{branch}.merge", head.ref)
