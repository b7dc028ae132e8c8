"""What language servers have said of files, and who wants to hear of it."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from agents.lsp.types import Diagnostic, Update

logger = logging.getLogger(__name__)

Listener = Callable[[Update], None]
Said = dict[Path, tuple[Diagnostic, ...]]


class Known:
    """Kept while a server rests, dropped when it is started anew. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: dict[tuple[Path, str], Said] = {}
        self._listeners: list[Listener] = []

    def listen(self, function: Listener) -> None:
        if function not in self._listeners:
            self._listeners.append(function)

    def take(self, update: Update) -> None:
        """A listener that raises is logged, and the others are told."""
        with self._lock:
            said = self._said.setdefault((update.root, update.server), {})
            if update.diagnostics:
                said[update.path] = update.diagnostics
            else:
                said.pop(update.path, None)
        for listener in self._listeners:
            try:
                listener(update)
            except Exception:
                logger.exception("what a language server said was not taken in")

    def forget(self, root: Path, server: str) -> None:
        """The listeners learn that nothing is known of the files any longer."""
        with self._lock:
            said = self._said.pop((root, server), {})
        for path in said:
            self.take(Update(root, server, path, (), None))

    def of(self, worktree: Path) -> Mapping[Path, tuple[Diagnostic, ...]]:
        """By file, all servers together."""
        found: dict[Path, list[Diagnostic]] = defaultdict(list)
        with self._lock:
            for (root, _), said in self._said.items():
                if root.is_relative_to(worktree):
                    for path, diagnostics in said.items():
                        found[path] += diagnostics
        return {path: tuple(diagnostics) for path, diagnostics in found.items()}
