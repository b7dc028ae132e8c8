"""The language servers of a project as the page lists them. Reads files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from agents.servers.lsp.finding import Found
from agents.servers.lsp.install import Installation, allowed, by_hand, installer, lacking
from agents.servers.lsp.life.plan import Place, Use, place_of, plan, uses
from agents.servers.lsp.matrix.row import Package, Row
from agents.servers.lsp.service import service
from agents.servers.lsp.trusted import Held
from agents.servers.lsp.types import ServerState
from sessions.core.text import shown_output
from sessions.project.search.listing import listing
from sessions.project.search.ripgrep import SearchFailed
from sessions.rendering.html import html

MAX_REASON = 2000
MEMORY_STEP = 10 * 1024**2
"""Bytes: a server that holds a little more than before is not shown anew."""
_WORDS = {
    "connected": "Running",
    "starting": "Starting",
    "error": "Failed",
    "missing": "Not installed",
    "held": "Waits for your trust",
    "idle": "Not running",
}
_LOOK = {"connected": "connected", "starting": "connecting", "error": "failed", "held": "held"}
"""The states of the style sheet."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One server in one root. `folder` is its root, relative to the worktree."""

    row: Row
    state: ServerState
    folder: str
    installation: Installation | None = None

    @property
    def place(self) -> str:
        """The id of its row in the page."""
        name = f"{self.row.id}\0{self.state.root}".encode("utf-8", "surrogatepass")
        return f"language-{sha256(name).hexdigest()[:16]}"

    @property
    def root(self) -> str:
        return str(self.state.root)

    @property
    def installing(self) -> bool:
        return self.installation is not None and self.installation.status == "running"

    @property
    def words(self) -> str:
        return "Installing" if self.installing else _WORDS[self.state.status]

    @property
    def look(self) -> str:
        return "connecting" if self.installing else _LOOK.get(self.state.status, "disabled")

    @property
    def memory(self) -> int:
        return -(-(self.state.memory or 0) // MEMORY_STEP) * MEMORY_STEP

    @property
    def problem(self) -> str:
        """What went wrong, at length."""
        failed = self.installation.problem if self.installation and self.state.status == "missing" else ""
        return shown_output(failed or self.state.reason, limit=MAX_REASON) if self.failed else ""

    @property
    def failed(self) -> bool:
        missing = self.state.status == "missing" and self.installation is not None
        return self.state.status == "error" or (missing and not self.installing)

    @property
    def note(self) -> str:
        """Why it does not run, or what it is at work on, in a line."""
        usual = f"{self.row.commands[0][0]} was not found."
        if self.failed or self.installing or self.state.reason == usual:
            return ""
        return shown_output(self.state.reason, limit=300)

    @property
    def installs(self) -> bool:
        """Whether a click can install it."""
        package = self.row.install
        return (
            isinstance(package, Package) and allowed() and not lacking(package) and not self.row.own_command
        )

    @property
    def lacks(self) -> str:
        return lacking(self.row.install) if isinstance(self.row.install, Package) and allowed() else ""

    @property
    def by_hand(self) -> str:
        """How a person gets it, where no click does; empty for a command of the configuration."""
        return "" if self.installs or self.row.own_command else by_hand(self.row)

    @property
    def progress(self) -> str:
        """The last lines of what is installing it."""
        return shown_output(self.installation.log.last(6)) if self.installation and self.installing else ""

    @property
    def head(self) -> str:
        """What changes by itself: the state, and what can be done about it."""
        return html("lsp/head.html", shown=self)

    @property
    def version(self) -> str:
        return sha256(self.head.encode()).hexdigest()[:12]


def shown(directory: Path) -> list[Shown]:
    """Those that files asked for, and those that files of the project would ask for. Raises OSError."""
    place = place_of(directory)
    rows = {row.id: row for row in place.rows}
    states = service.statuses(directory)
    known = {state.id for state in states}
    found = [*states, *(_expected(use) for use in _expected_uses(place) if use.row.id not in known)]
    return [
        Shown(rows[state.id], state, _relative(state.root, place.worktree), installer.of(rows[state.id]))
        for state in sorted(found, key=_order)
    ]


def others(place: Place, listed: Sequence[Shown]) -> list[Shown]:
    """The servers that no file of the project asks for."""
    known = {one.row.id for one in listed}
    left = [row for row in place.rows if row.id not in known]
    states = [_expected(plan(row, place.worktree, place.worktree)) for row in left]
    return [Shown(row, state, "", installer.of(row)) for row, state in zip(left, states, strict=True)]


def _expected_uses(place: Place) -> Iterator[Use]:
    """The servers of one file of each kind: the one nearest to the worktree."""
    seen: set[str] = set()
    for file in _examples(place):
        for use in uses(place, file):
            if use.row.id not in seen:
                seen.add(use.row.id)
                yield use


def _examples(place: Place) -> Iterator[Path]:
    try:
        names = listing(place.worktree).files
    except (SearchFailed, OSError):
        return
    kinds: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (name.count("/"), name)):
        kinds.setdefault(PurePosixPath(name).suffix or PurePosixPath(name).name, name)
    yield from (place.worktree / name for name in kinds.values())


def _expected(use: Use) -> ServerState:
    status: Literal["idle", "held", "missing"] = "missing"
    if isinstance(use.outcome, Found):
        return ServerState(use.row.id, use.row.language, use.root, "idle")
    if isinstance(use.outcome, Held):
        status = "held"
    return ServerState(use.row.id, use.row.language, use.root, status, use.outcome.reason)


def _order(state: ServerState) -> tuple[int, str, str]:
    return list(_WORDS).index(state.status) if state.status == "missing" else 0, state.name, str(state.root)


def _relative(root: Path, worktree: Path) -> str:
    return "" if root == worktree else root.relative_to(worktree).as_posix()
