"""Tags: which there are, making one, and deleting one with a way back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.changes.git.command import Git, GitError

TAGS = "refs/tags/"
MOST = 200
"""Tags that are listed, the newest."""
_HASH = re.compile(r"[0-9a-f]{40,64}")
_FORMAT = "%00".join(
    ("%(refname)", "%(objectname)", "%(objecttype)", "%(creatordate:unix)", "%(contents:subject)")
)


@dataclass(frozen=True, slots=True)
class Tag:
    """`address` is what it names, of an annotated one the object with its message; `time` is in
    milliseconds."""

    ref: str
    address: str
    annotated: bool
    time: int
    subject: str

    @property
    def name(self) -> str:
        return self.ref.removeprefix(TAGS)


def tags(git: Git) -> list[Tag]:
    """The newest first. Raises GitError."""
    asked = ("for-each-ref", f"--count={MOST}", "--sort=-creatordate", f"--format={_FORMAT}%00", TAGS)
    fields = git.read(*asked).decode("utf-8", "replace").split("\0")
    rows = (fields[at : at + 5] for at in range(0, len(fields) - 5, 5))
    return [
        Tag(ref.lstrip("\n"), address, kind == "tag", int(time or 0) * 1000, subject)
        for ref, address, kind, time, subject in rows
    ]


def make(git: Git, name: str, words: str = "", *, at: str = "") -> str:
    """Of the last commit, or of another; with words annotated. Raises GitError."""
    new = name.strip()
    if not new or new.startswith("-") or not git.asked("check-ref-format", "--normalize", f"{TAGS}{new}"):
        raise GitError(gettext("This is no name that a tag may have."))
    if at and not _HASH.fullmatch(at):
        raise GitError(gettext("This is no commit."))
    how = ("--annotate", "--file=-") if words.strip() else ()
    said = git.write("tag", *how, new, *((at,) if at else ()), stdin=words.encode())
    return said or gettext("Made the tag %(new)s.") % {"new": new}


def delete(git: Git, ref: str, seen: str) -> str:
    """The tag that named `seen`. Raises GitError."""
    required(git, ref, seen)
    return git.write("update-ref", "-d", ref, seen) or gettext("Deleted the tag %(tags)s.") % {
        "tags": ref.removeprefix(TAGS)
    }


def required(git: Git, ref: str, seen: str) -> None:
    """Raises GitError where there is no such tag, or it names something else than was `seen`."""
    if not ref.startswith(TAGS) or git.asked("show-ref", "--verify", "--hash", ref) != seen:
        raise GitError(gettext("There is no such tag any more, or it is another."))


def restore(git: Git, ref: str, address: str) -> str:
    """One that was deleted, where there is none of its name by now. Raises GitError."""
    if not ref.startswith(TAGS) or not _HASH.fullmatch(address):
        raise GitError(gettext("This is no tag."))
    return git.write("update-ref", ref, address, "0" * len(address))
