"""The net change of every file in a scope of the ledger: one turn, or a whole session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sessions.models import FileChange
from sessions.undo.files import same_mode

Status = Literal["added", "deleted", "modified"]


@dataclass(frozen=True, slots=True)
class NetChange:
    """First content before, last content after; empty addresses where the file did not exist.

    `skipped` says why a content is not known; then there is nothing to compare.
    """

    path: str
    before: str
    after: str
    mode_before: int | None
    mode_after: int | None
    skipped: str = ""

    @property
    def status(self) -> Status:
        """The wire's word."""
        if self.skipped and not self.before and not self.after:
            return "modified"
        return "added" if not self.before else "deleted" if not self.after else "modified"

    @property
    def mode_changed(self) -> bool:
        """Whether its permissions are others, or a file became a link."""
        return self.status == "modified" and not same_mode(self.mode_before, self.mode_after)


def net(changes: Iterable[FileChange]) -> list[NetChange]:
    """Fold ledger entries (oldest first) by path; files that ended as they began are left out."""
    by_path: dict[str, list[FileChange]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    folded = (_fold(path, by_path[path]) for path in sorted(by_path))
    return [file for file in folded if file.skipped or file.before != file.after or file.mode_changed]


def _fold(path: str, changes: list[FileChange]) -> NetChange:
    first, last = changes[0], changes[-1]
    skipped = next((change.skipped for change in changes if change.skipped), "")
    return NetChange(path, first.before, last.after, first.mode_before, last.mode_after, skipped)
