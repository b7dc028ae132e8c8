"""Run git with nothing of the user's surroundings having a say: no configuration, no hooks, no filters."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class GitError(Exception):
    """git failed or is not installed; the text says what it was asked and what it answered."""


# Raw bytes in, raw bytes out: `.gitattributes` of the project must not convert line endings or
# run clean/smudge filters (LFS), so `$GIT_DIR/info/attributes`, which outranks it, unsets them all.
ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding -crlf\n"

NO_HEAD = "ref: refs/heads/none\n"

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = true
\thooksPath = /dev/null
\tprotectNTFS = false
\tprotectHFS = false
\tlooseCompression = 1
\tfsync = objects
\tfsyncMethod = batch
\tlogAllRefUpdates = false
\tquotePath = false
[status]
\tshowUntrackedFiles = all
[index]
\tsparse = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tstatusUoption = false
"""


def clean_environment() -> Mapping[str, str]:
    """The process's environment without any `GIT_*` and without system and global git configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def run_git(
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    seconds: float | None = None,
) -> bytes:
    """Standard output of `git ARGUMENTS`. Raises GitError when it fails, takes longer or git is missing."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env={**clean_environment(), **(extra or {})},
            pass_fds=pass_fds,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {' '.join(arguments)} took longer than {seconds:g} seconds") from error
    except OSError as error:
        raise GitError(f"git could not be started: {error}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise GitError(f"git {' '.join(arguments)} ended with {done.returncode}: {said}")
    return done.stdout


def copy_index(index: Path, copy: Path) -> None:
    """Copy the index of a repository with its time, by which git knows which files may have been written
    since it read them (gitformat-index(5), git's `racy-git`): to a younger copy they would be unchanged.
    Raises OSError."""
    with index.open("rb") as source:
        copy.write_bytes(source.read())
        found = os.fstat(source.fileno())
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))


def create_repository(git_dir: Path) -> None:
    """Make or bring up to date the bare bones of a SHA-1 repository (gitrepository-layout(5)); idempotent."""
    for folder in ("objects/info", "objects/pack", "refs", "info"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    _write_if_new(git_dir / "config", CONFIG)
    _write_if_new(git_dir / "info" / "attributes", ATTRIBUTES)
    if not (git_dir / "HEAD").exists():
        (git_dir / "HEAD").write_text(NO_HEAD)


def _write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
