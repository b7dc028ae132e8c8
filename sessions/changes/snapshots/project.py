"""Find the user's git repository around a folder, reading only."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sessions.core.git import GitError, run_git

_QUESTIONS = ("--show-toplevel", "--show-prefix", "--git-common-dir", "--git-dir", "--show-object-format")


@dataclass(frozen=True, slots=True)
class ProjectGit:
    """`top` is where paths in the index start and `prefix` the worktree below it (`sub/`, or empty).

    `objects` and `index` are None where nothing can be borrowed: no repository, or one with SHA-256.
    """

    top: Path
    prefix: str = ""
    objects: Path | None = None
    index: Path | None = None
    exclude: Path | None = None
    global_excludes: Path | None = None


def find_project_git(worktree: Path) -> ProjectGit:
    """The repository `worktree` belongs to; a plain folder where there is none, where git refuses it, where
    its top is the home folder or `/` (dotfiles kept in git), or where it ignores `worktree` as a whole."""
    try:
        answers = _rev_parse(worktree)
        top = Path(answers[0])
        if answers[1] and (holds_home(top) or _is_ignored(worktree)):
            return ProjectGit(worktree, global_excludes=_global_excludes(worktree))
    except GitError:
        return ProjectGit(worktree, global_excludes=_global_excludes(worktree))
    common, git_dir = (worktree / answer for answer in answers[2:4])
    sha1 = answers[4] == "sha1"
    return ProjectGit(
        top=top,
        prefix=answers[1],
        objects=common / "objects" if sha1 else None,
        index=git_dir / "index" if sha1 else None,
        exclude=common / "info" / "exclude",
        global_excludes=_global_excludes(worktree),
    )


def holds_home(folder: Path) -> bool:
    """Whether `folder` is the home folder or above it (`/` always is)."""
    return Path.home().resolve().is_relative_to(folder.resolve())


def _rev_parse(worktree: Path) -> list[str]:
    # safe.directory: a repository of another owner is only read, and rev-parse runs nothing of it.
    out = run_git(["-c", "safe.directory=*", "rev-parse", *_QUESTIONS], cwd=worktree)
    answers = os.fsdecode(out).removesuffix("\n").split("\n")
    if len(answers) != len(_QUESTIONS):
        raise GitError("the path of the repository has a line break in it")
    return answers


def _is_ignored(worktree: Path) -> bool:
    asked = ["-c", "safe.directory=*", "check-ignore", "--no-index", "-q", "-z", "--stdin"]
    magic = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes no other, and reads names literally anyway
    try:
        run_git(asked, cwd=worktree.parent, stdin=os.fsencode(f"./{worktree.name}") + b"\0", extra=magic)
    except GitError:  # it ends with 1 when nothing is ignored
        return False
    return True


def _global_excludes(worktree: Path) -> Path:
    """The user's own ignore file: what their `git status` never shows is not snapshotted either. Without a
    configuration it is git's default (gitignore(5)); it may be missing."""
    asked = ["config", "--global", "--type=path", "--get", "core.excludesFile"]
    for configuration in _global_configurations():
        try:
            found = run_git(asked, cwd=worktree, extra={"GIT_CONFIG_GLOBAL": str(configuration)})
        except GitError:  # not set there
            continue
        return Path(os.fsdecode(found).removesuffix("\n"))
    return _xdg_git() / "ignore"


def _global_configurations() -> list[Path]:
    """The files git would read, the strongest first (git-config(1), FILES)."""
    if named := os.environ.get("GIT_CONFIG_GLOBAL"):
        return [Path(named)]
    return [path for path in (Path.home() / ".gitconfig", _xdg_git() / "config") if path.is_file()]


def _xdg_git() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git"
