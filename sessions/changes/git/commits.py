"""Making a commit, amending the last one, taking one back, picking one of another branch."""

from __future__ import annotations

from django.utils.translation import gettext

from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError
from sessions.changes.git.history import checked


def commit(git: Git, message: str, *, amend: bool = False) -> str:
    """Of what is staged, and what git said of it. Hooks may take their time. Raises GitError."""
    if amend and (why := not_amendable(git)):
        raise GitError(why)
    if not message.strip():
        raise GitError(gettext("A commit needs a message."))
    changed = ("--amend",) if amend else ()
    return git.write("commit", *changed, "--file=-", stdin=message.encode(), seconds=REMOTE_SECONDS)


def revert(git: Git, of: str) -> str:
    """A commit that takes back what another did, of a merge what it brought. Conflicts are in the error.
    Raises GitError."""
    return git.write("revert", "--no-edit", *_mainline(git, of), seconds=REMOTE_SECONDS)


def pick(git: Git, of: str) -> str:
    """What another commit did, once more, as one of its own. Conflicts are in the error. Raises GitError."""
    return git.write("cherry-pick", *_mainline(git, of), seconds=REMOTE_SECONDS)


def _mainline(git: Git, of: str) -> tuple[str, ...]:
    """A merge is taken as seen from its first parent."""
    merges = git.asked("rev-list", "--parents", "--max-count=1", checked(of)).count(" ") > 1
    return ("--mainline", "1", of) if merges else (of,)


def last_message(git: Git) -> str:
    """Of the last commit; empty for none."""
    return git.asked("log", "-1", "--format=%B")


def not_amendable(git: Git) -> str:
    """Why the last commit stays as it is; empty where it is the person's own and nobody else has it."""
    if not git.asked("rev-parse", "--verify", "--quiet", "HEAD"):
        return gettext("There is no commit yet.")
    if git.asked("for-each-ref", "--count=1", "--contains=HEAD", "--format=%(refname)", "refs/remotes"):
        return gettext("The last commit is pushed: others may have it.")
    ours = git.asked("config", "--get", "user.email")
    if ours and git.asked("log", "-1", "--format=%ae") != ours:
        return gettext("The last commit is somebody else's.")
    return ""
