"""Fetching, pulling and pushing, with what the remote says."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.git.branches import HEADS, REMOTES, required
from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError, Watch, words
from sessions.changes.git.tags import TAGS
from sessions.changes.git.tags import required as required_tag

_USUAL = "origin"
_CHOSEN = ("pull.rebase", "pull.ff", "branch.{}.rebase")
"""Settings by which a person says how branches come together."""
_ADVICE = (
    (
        re.compile(r"could not read (Username|Password)|terminal prompts disabled|Authentication failed"),
        gettext_noop(
            "Nobody is asked for a password here. Let one of git’s credential helpers have it "
            "(git config --global credential.helper …), or use an address of SSH."
        ),
    ),
    (
        re.compile(r"Permission denied \(publickey|Host key verification failed"),
        gettext_noop(
            "ssh asks nobody here either. Load your key into its agent (ssh-add), and connect once in a "
            "terminal, so that the host is known."
        ),
    ),
)


def remotes(git: Git) -> list[str]:
    return git.asked("remote").splitlines()


def fetch(git: Git, watch: Watch | None = None) -> str:
    """From all remotes. Raises GitError."""
    return _spoken(git, watch, "fetch", "--all") or gettext("Nothing new.")


def pull(git: Git, watch: Watch | None = None) -> str:
    """As it is configured, else only forward. Raises GitError."""
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    chosen = any(git.asked("config", "--get", key.format(branch)) for key in _CHOSEN)
    return _spoken(git, watch, "pull", "--no-edit", *(() if chosen else ("--ff-only",)))


def push(git: Git, watch: Watch | None = None) -> str:
    """The branch to the one it follows; the first time to one of its name, which it then follows. Raises
    GitError."""
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    if not branch:
        raise GitError(gettext("No branch is checked out."))
    followed = git.asked("config", "--get", f"branch.{branch}.remote")
    remote = _checked(git, followed or usual(git))
    upstream = git.asked("config", "--get", f"branch.{branch}.merge")
    return _spoken(git, watch, "push", *(() if followed and upstream else ("--set-upstream", remote, branch)))


def push_tags(git: Git, watch: Watch | None = None, *, ref: str = "", seen: str = "") -> str:
    """The tag `ref` that names `seen`, or all of them. One that is another there stays, and the error says
    so. Raises GitError."""
    if ref:
        required_tag(git, ref, seen)
    remote = _checked(git, usual(git))
    return _spoken(git, watch, "push", remote, f"{ref}:{ref}" if ref else f"{TAGS}*:{TAGS}*")


def delete(git: Git, watch: Watch | None = None, *, ref: str = "", seen: str = "") -> str:
    """A tag at the remote, or there the branch of which `ref` is what is known here, as long as it is `seen`.
    Raises GitError."""
    if ref.startswith(TAGS):
        required_tag(git, ref, seen)
        remote, there = usual(git), ref
    else:
        remote, there = _branch_there(git, ref)
        if required(git, ref) != seen:
            raise GitError(gettext("The branch has other commits by now. Look at it again."))
    lease = f"--force-with-lease={there}:{seen}"
    return _spoken(git, watch, "push", lease, _checked(git, remote), f":{there}")


def usual(git: Git) -> str:
    """The remote that pushes go to where nothing else is said; empty for none."""
    known = remotes(git)
    return _USUAL if _USUAL in known else next(iter(known), "")


def _branch_there(git: Git, ref: str) -> tuple[str, str]:
    """The remote of a branch of one, and the branch's whole name there. Raises GitError."""
    short = ref.removeprefix(REMOTES)
    found = [remote for remote in remotes(git) if short.startswith(f"{remote}/")]
    if not found or short == ref:
        raise GitError(gettext("There is no such branch any more."))
    remote = max(found, key=len)
    return remote, f"{HEADS}{short.removeprefix(f'{remote}/')}"


def _checked(git: Git, remote: str) -> str:
    """A remote that may be pushed to. Raises GitError."""
    if remote not in remotes(git):
        raise GitError(gettext("There is no remote to push to."))
    if _is_within(git, remote):
        raise GitError(
            gettext("This remote lies in the working tree itself: its hooks would run. Push from a terminal.")
        )
    return remote


def _spoken(git: Git, watch: Watch | None, act: str, *rest: str) -> str:
    """With what the remote says, and advice where nobody could be asked. Raises GitError."""
    try:
        said = git.write(act, "--progress", *rest, seconds=REMOTE_SECONDS, watch=watch)
    except GitError as error:
        advice = next((advice for sign, advice in _ADVICE if sign.search(str(error))), "")
        raise GitError(f"{error}\n\n{gettext(advice)}" if advice else str(error)) from error
    return words(said)


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
