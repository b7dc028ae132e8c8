"""What of a project's own configuration counts: all of a trusted file, of any other what needs no trust.

Rule 14 of docs/security.md; docs/decisions/0007-trust.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.config.substitute import Substitution
from agents.config.trust.covered import KeyPath, restrain
from agents.config.trust.reach import Reach
from agents.config.trust.store import TrustStore, digest, name_in
from agents.config.trust.wants import Content, Want, wish
from sessions.core import paths
from sessions.core.repository import Repository


class Gate:
    """Between the files of the project around a folder and the configuration."""

    def __init__(self, directory: Path, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._store = TrustStore(paths.trust(environ), environ)
        try:
            self._worktree = Repository.of(directory).worktree
        except OSError:  # no such folder, so no files either
            self._worktree = directory
        self.reach = Reach(self._worktree, self._store)

    def look(
        self, document: Any, text: str, file: Path, done: Substitution
    ) -> tuple[dict[str, Any], Want | None]:
        """What counts without trust, and what the file asks for beyond that.

        `done` has replaced every reference of the document; what it read of the project is a part of what
        is trusted, so that an included file cannot change behind it.
        """
        confined = Substitution(file.parent, self._environ, within=self._worktree, origin=file)
        kept, held = restrain(confined.apply(document))
        held += confined.held
        if not held:
            return kept, None
        contents = [self._content(file, text.encode()), *self._included(done)]
        trusted = self._store.holds(self._worktree, {content.name: content.digest for content in contents})
        wishes = [wish(document, path) for path in dict.fromkeys(held) if not _is_within(path, held)]
        return kept, Want(contents, wishes, trusted)

    def holds(self, file: Path, text: str) -> bool:
        """Whether exactly this text of a file is trusted, whatever it includes."""
        content = self._content(file, text.encode())
        return self._store.holds(self._worktree, {content.name: content.digest})

    def trust(self, file: Path, text: str, want: Want | None) -> None:
        """Trust a text of a file, and what it asks for."""
        content = self._content(file, text.encode())
        self._store.grant(self._worktree, {content.name: content.digest, **(want.digests if want else {})})

    def _included(self, done: Substitution) -> Iterator[Content]:
        for file, content in done.contents.items():
            if file.resolve().is_relative_to(self._worktree) or file.is_relative_to(self._worktree):
                yield self._content(file, content)

    def _content(self, file: Path, content: bytes) -> Content:
        return Content(name_in(self._worktree, file), digest(content), content.decode("utf-8", "replace"))


def _is_within(path: KeyPath, others: list[KeyPath]) -> bool:
    """Whether something around it is among the others."""
    return any(len(other) < len(path) and path[: len(other)] == other for other in others)
