"""What git has begun and waits to go on with: a merge, a rebase, a cherry-pick, a revert."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.git.command import REMOTE_SECONDS, Git, GitError
from sessions.changes.git.stash import keep

_WORDS = {
    "merge": gettext_noop("a merge"),
    "rebase": gettext_noop("a rebase"),
    "cherry-pick": gettext_noop("a cherry-pick"),
    "revert": gettext_noop("a revert"),
    "am": gettext_noop("applying patches"),
    "bisect": gettext_noop("a bisection"),
}
_MARKS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)
"""gitrepository-layout(5): what is in its folder meanwhile."""
_STEPS = (("rebase-merge/msgnum", "rebase-merge/end"), ("rebase-apply/next", "rebase-apply/last"))
_PICKED = {"pick": "cherry-pick", "revert": "revert"}
"""By the first word of what a sequence of commits has left to do."""


@dataclass(frozen=True, slots=True)
class Ongoing:
    """`act` is git's command; `step` of `steps` it has come to, both 0 where it has one."""

    act: str
    step: int = 0
    steps: int = 0

    @property
    def words(self) -> str:
        return _WORDS[self.act]

    @property
    def goes_on(self) -> bool:
        return self.act != "bisect"

    @property
    def skips(self) -> bool:
        return self.act in ("rebase", "cherry-pick", "revert", "am")


def ongoing(git: Git) -> Ongoing | None:
    """None for nothing. Raises GitError."""
    folder = Path(git.asked("rev-parse", "--absolute-git-dir"))
    act = next((act for name, act in _MARKS if (folder / name).exists()), "")
    if not act:
        first = _text(folder / "sequencer" / "todo").split(maxsplit=1)
        act = _PICKED.get(first[0], "") if first else ""
    if act not in ("rebase", "am"):
        return Ongoing(act) if act else None
    steps = next(((folder / at, folder / end) for at, end in _STEPS if (folder / end).exists()), None)
    return Ongoing(act, *map(_number, steps)) if steps else Ongoing(act)


def go_on(git: Git) -> str:
    """What is left of it, with what is staged. Raises GitError."""
    return git.write(_required(git).act, "--continue", seconds=REMOTE_SECONDS)


def skip(git: Git) -> str:
    """Without the commit that it has come to. What the files hold of that is put aside. Raises GitError."""
    now = _required(git)
    if not now.skips:
        raise GitError(gettext("There is nothing to skip in %(words)s.") % {"words": gettext(now.words)})
    keep(git, f"Left out of {now.words}")
    return git.write(now.act, "--skip", seconds=REMOTE_SECONDS)


def abort(git: Git) -> str:
    """Back to before it. What the files hold is put aside. Raises GitError."""
    now = _required(git)
    keep(git, f"From {now.words} that was aborted")
    if now.act == "bisect":
        return git.write("bisect", "reset")
    return git.write(now.act, "--abort") or gettext("Aborted.")


def _required(git: Git) -> Ongoing:
    now = ongoing(git)
    if now is None:
        raise GitError(gettext("It is over already."))
    return now


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


def _number(file: Path) -> int:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else 0
