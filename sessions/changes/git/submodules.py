"""Submodules: which there are, how they stand, and bringing one to the commit that is recorded.

git is never started in one of them to say how it stands: it would run with the configuration of that one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.checkout_git import git as run
from sessions.changes.git.command import PROTOCOLS, REMOTE, REMOTE_SECONDS, Git, GitError
from sessions.core.models.ledger import pack_path

State = Literal["empty", "as recorded", "at another commit", "broken"]
WORDS = (
    gettext_noop("empty"),
    gettext_noop("as recorded"),
    gettext_noop("at another commit"),
    gettext_noop("broken"),
)
"""The same, which pages translate."""
_FIELD = re.compile(r"submodule\.(.+)\.(path|url)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Submodule:
    """`commit` is what is recorded (staged), `here` what is checked out; `url` is empty where nobody says
    it."""

    path: str
    url: str
    commit: str
    here: str
    state: State

    @property
    def key(self) -> str:
        return pack_path(self.path)


def submodules(git: Git) -> list[Submodule]:
    """Raises GitError."""
    urls = _urls(git)
    entries = os.fsdecode(git.read("ls-files", "--stage", "-z")).split("\0")
    found = []
    for entry in entries:
        about, _, path = entry.partition("\t")
        if about.startswith("160000 "):
            found.append(_submodule(git, path, about.split(" ")[1], urls.get(path, "")))
    return found


def update(git: Git, path: str) -> str:
    """Fetch what is recorded and check it out; commits and files of its own in it stay. Raises GitError.

    Its address comes of the repository, as its programs do: both wait for trust. One on this machine is for
    who has said so to git (protocol.file.allow): it could be any folder.
    """
    found = next((each for each in submodules(git) if each.path == path), None)
    if found is None:
        raise GitError(gettext("There is no such submodule any more."))
    if not git.trusted:
        raise GitError(
            gettext("This repository names programs that you have not trusted. Look at them first.")
        )
    if not found.url:
        raise GitError(gettext("The file .gitmodules does not say where it comes from."))
    files = git.asked("config", "--global", "--get", "protocol.file.allow") == "always"
    said = git.write(
        *("submodule", "update", "--init", "--", path),
        seconds=REMOTE_SECONDS,
        protocols=PROTOCOLS if files else REMOTE,
    )
    return said or gettext("It is at the commit that is recorded.")


def _urls(git: Git) -> dict[str, str]:
    """By path."""
    try:
        output = os.fsdecode(git.read("config", "--file", ".gitmodules", "--list", "-z"))
    except GitError:
        return {}
    named: dict[str, dict[str, str]] = {}
    for entry in output.split("\0"):
        key, _, value = entry.partition("\n")
        if match := _FIELD.fullmatch(key):
            named.setdefault(match[1], {})[match[2]] = value
    return {fields.get("path", ""): fields.get("url", "") for fields in named.values()}


def _submodule(git: Git, path: str, commit: str, url: str) -> Submodule:
    folder = git.top / path
    if not (folder / ".git").exists():
        return Submodule(path, url, commit, "", "empty")
    try:
        here = run(folder, "rev-parse", "--verify", "HEAD").decode().strip()
    except GitError:
        return Submodule(path, url, commit, "", "broken")
    return Submodule(path, url, commit, here, "as recorded" if here == commit else "at another commit")
