"""Programs that a repository brings along: its hooks, and those that its own configuration names.

The person's own configuration may name programs too (credential helpers, filters, a key for signatures): they
chose them. docs/decisions/0051-git-panel.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Setting = tuple[str, str]

_RUNS = re.compile(
    r"core\.(hookspath|fsmonitor|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)"
    r"|sequence\.editor|credential\.(.+\.)?helper|filter\..+\.(clean|smudge|process)|merge\..+\.driver"
    r"|diff\.external|diff\..+\.(command|textconv)|gpg(\..+)?\.(program|defaultkeycommand)"
    r"|remote\..+\.(uploadpack|receivepack|vcs)|trailer\..+\.(cmd|command)|submodule\..+\.update"
    r"|interactive\.difffilter|pager\..+|lfs\.(customtransfer|extension)\..+|lfs\.(.+\.)?standalonetransferagent"
    r"|hook\..+",
    re.IGNORECASE,
)
"""git-config(1): the keys whose value is run."""
_LISTS = re.compile(r"credential\.(.+\.)?helper", re.IGNORECASE)
"""Those of which all values count, until an empty one."""
_INSTEAD = (
    (re.compile(r"core\.hookspath", re.IGNORECASE), os.devnull),
    (re.compile(r"core\.fsmonitor", re.IGNORECASE), "false"),
    (re.compile(r"core\.sshcommand", re.IGNORECASE), "ssh"),
    (re.compile(r"remote\..+\.uploadpack", re.IGNORECASE), "git-upload-pack"),
    (re.compile(r"remote\..+\.receivepack", re.IGNORECASE), "git-receive-pack"),
    (re.compile(r"merge\..+\.driver", re.IGNORECASE), "git merge-file %A %O %B"),
    (re.compile(r"gpg\.ssh\.program", re.IGNORECASE), "ssh-keygen"),
    (re.compile(r"gpg\.x509\.program", re.IGNORECASE), "gpgsm"),
    (re.compile(r"gpg(\.openpgp)?\.program", re.IGNORECASE), "gpg"),
    (re.compile(r"submodule\..+\.update", re.IGNORECASE), "none"),
)
"""What git does where nobody names a program; of the others it is nothing."""
_OWN = ("system", "global")
_SAMPLE = ".sample"
_MOST_HOOKS = 100

Ask = Callable[..., bytes]
"""`ask(*arguments)`: what git answers, with the configuration as it is. Raises GitError."""


@dataclass(frozen=True, slots=True)
class Program:
    """`name` says what it is, `text` is what would run; `hook` is the name of one, empty for a setting."""

    name: str
    content: bytes
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Programs:
    """`held` are settings under which none of them runs."""

    found: tuple[Program, ...]
    held: tuple[Setting, ...]

    @property
    def hooks(self) -> list[str]:
        return [program.hook for program in self.found if program.hook]


def programs(ask: Ask) -> Programs:
    """Those of a repository. Reads files; raises GitError, OSError."""
    entries = list(_entries(ask("config", "--list", "--show-scope", "-z")))
    own = [(key, value) for scope, key, value in entries if scope in _OWN]
    theirs = [(key, value) for scope, key, value in entries if scope not in _OWN and _RUNS.fullmatch(key)]
    keys = dict.fromkeys(key for key, _ in theirs)
    hooks: Sequence[Program] = ()
    if "core.hookspath" in keys or not any(key == "core.hookspath" for key, _ in own):
        hooks = list(
            _hooks(
                Path(os.fsdecode(ask("rev-parse", "--path-format=absolute", "--git-path", "hooks")).strip())
            )
        )
        keys["core.hookspath"] = None
    settings = [
        Program(f"git configuration, {key}", value.encode("utf-8", "surrogateescape"))
        for key, value in theirs
    ]
    held = [setting for key in keys for setting in _without(key, own)]
    return Programs((*hooks, *settings), tuple(held))


def _entries(output: bytes) -> Iterator[tuple[str, str, str]]:
    """(scope, key, value); a key without a value is true."""
    fields = os.fsdecode(output).split("\0")
    for scope, entry in zip(fields[0::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        yield scope, key, value


def _hooks(folder: Path) -> Iterator[Program]:
    try:
        files = sorted(folder.iterdir())[:_MOST_HOOKS]
    except OSError:
        return
    for file in files:
        if file.suffix != _SAMPLE and file.is_file() and os.access(file, os.X_OK):
            yield Program(f"git hook {file.name}", file.read_bytes(), file.name)


def _without(key: str, own: Sequence[Setting]) -> Iterator[Setting]:
    """What makes a key as the person has it, whatever the repository says."""
    values = [value for name, value in own if name == key]
    if _LISTS.fullmatch(key):
        yield key, ""
        yield from ((key, value) for value in values)
        return
    usual = next((value for pattern, value in _INSTEAD if pattern.fullmatch(key)), "")
    yield key, values[-1] if values else usual
    if key.startswith("filter.") and not values:
        yield f"{key.rpartition('.')[0]}.required", "false"
