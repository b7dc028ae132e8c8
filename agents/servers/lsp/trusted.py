"""What of a project runs with its language servers, and whether a person has trusted that (rule 14).

A program that lies in the project is trusted by its content. A server that runs the project's code by
design (build scripts, configuration that is a program) is trusted for the project as a whole: what it would
run changes with every edit. docs/decisions/0007-trust.md.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.translation.trans_null import gettext_noop

from agents.config.trust.store import TrustStore, digest, name_in
from agents.config.trust.wants import Content, Want, Wish
from agents.servers.lsp.finding import Found, find
from agents.servers.lsp.matrix.row import Row
from sessions.core.platform.stamps import Stamp, stamp_of
from sessions.core.repository import Repository
from sessions.core.sentences import Sentence

_PREFIX = "language server "
_SHOWN = 4000
_lock = threading.Lock()
_held: dict[Path, dict[tuple[str, Path], Row]] = {}
"""What a file asked for and waits, by worktree."""


@dataclass(frozen=True, slots=True)
class Held:
    """`reason` is for people."""

    reason: str


def gate(row: Row, root: Path, worktree: Path, found: Found) -> Found | Held:
    """What was found, if it may run. Reads files."""
    want = _want(row, root, worktree, found)
    if want is None or want.trusted:
        return found
    return Held("; ".join(wish.words for wish in want.wishes))


def ask(row: Row, root: Path, worktree: Path) -> None:
    """From now on a server is a part of what the project asks for."""
    with _lock:
        _held.setdefault(worktree.resolve(), {})[row.id, root] = row


def wants(directory: Path) -> list[Want]:
    """What language servers of the project wait for, as its files are now, and what was trusted before."""
    try:
        worktree = Repository.of(directory).worktree.resolve()
    except OSError:
        return []
    with _lock:
        asked = dict(_held.get(worktree, {}))
    found = {want.name: want for want in _asked(worktree, asked)}
    return [*found.values(), *(want for want in _before(worktree) if want.name not in found)]


def _asked(worktree: Path, asked: dict[tuple[str, Path], Row]) -> Iterator[Want]:
    for (_, root), row in asked.items():
        found = find(row, root, worktree)
        if isinstance(found, Found) and (want := _want(row, root, worktree, found)):
            yield want


def _before(worktree: Path) -> Iterator[Want]:
    """Servers that were trusted for the project as a whole: their texts are their names."""
    for name, sha in TrustStore(Path(settings.TRUST_FILE)).granted(worktree).items():
        if name.startswith(_PREFIX) and sha == digest(name.encode()):
            row = name.removeprefix(_PREFIX)
            yield Want([_whole(row)], [Wish("", gettext_noop("Uses a language server"), row)], True)


def _want(row: Row, root: Path, worktree: Path, found: Found) -> Want | None:
    contents: list[Content] = []
    wishes: list[Wish] = []
    if row.project_code and _runs(row, root, worktree):
        contents.append(_whole(row.id))
        wishes.append(
            Wish(
                "",
                Sentence("Runs %(code)s", code=row.project_code),
                f"{row.language}: {shlex.join(found.argv)}",
            )
        )
    for file in found.code:
        contents.append(_content(worktree, file))
        wishes.append(
            Wish("", gettext_noop("Runs a program that lies in the project"), name_in(worktree, file))
        )
    if not contents:
        return None
    store = TrustStore(Path(settings.TRUST_FILE))
    trusted = store.holds(worktree, {content.name: content.digest for content in contents})
    return Want(contents, wishes, trusted)


def _runs(row: Row, root: Path, worktree: Path) -> bool:
    """A server that looks for the code upward finds it in the worktree as well."""
    folders = {root, worktree}
    return not row.code_in or any(
        os.path.lexists(folder / path) for folder in folders for path in row.code_in
    )


def _whole(row: str) -> Content:
    name = f"{_PREFIX}{row}"
    return Content(
        name, digest(name.encode()), Sentence("Trusted for the project as it is and as it will be.")
    )


def _content(worktree: Path, file: Path) -> Content:
    """A file that cannot be read has a digest that nothing has."""
    try:
        sha, text = _read(file, stamp_of(file.stat()))
    except OSError as error:
        sha, text = "", str(error)
    return Content(name_in(worktree, file), sha, text)


@lru_cache(maxsize=64)
def _read(file: Path, now: Stamp) -> tuple[str, str]:
    """SHA-256, and the beginning of what a person can read."""
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        start = opened.read(_SHOWN)
        opened.seek(0)
        sha = hashlib.file_digest(opened, "sha256").hexdigest()
    text = (
        Sentence("A program of %(size)s bytes.", size=f"{size:,}")
        if b"\0" in start
        else start.decode("utf-8", "replace")
    )
    return sha, text
