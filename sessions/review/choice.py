"""What of an undo from a message on a person wants: the conversation, the files or both, and which files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sessions.models import Operation
from sessions.models.ledger import pack_path, unpack_path
from sessions.review.outcomes import WRITES
from sessions.store.ledger import Point
from sessions.undo.plan import FilePlan

What = Literal["both", "conversation", "files"]


@dataclass(frozen=True, slots=True)
class Choice:
    """`paths` are the files to take back; None means every one, also those no preview has shown."""

    what: What = "both"
    paths: frozenset[str] | None = None

    def wants(self, path: str) -> bool:
        if self.what == "conversation":
            return False
        return self.paths is None or path in self.paths

    def split(self, plan: Iterable[FilePlan]) -> tuple[list[FilePlan], list[str]]:
        """The plans to carry out, and the paths left out. Nothing is asked about a file that would not be
        written: it is told of with the others."""
        listed = list(plan)
        asked = [file for file in listed if self.what == "conversation" or file.outcome in WRITES]
        left_out = {file.path for file in asked if not self.wants(file.path)}
        return [file for file in listed if file.path not in left_out], sorted(left_out)


def scope_from(point: Point, left_out: Sequence[str]) -> dict[str, Any]:
    """`Operation.scope` of an undo of the conversation: where it begins, and the files not wanted."""
    place = {"kind": "from", "message": point.message_id, "part": point.part_id}
    kept = {"left_out": [pack_path(path) for path in left_out]}
    return {key: value for key, value in (place | kept).items() if value}


def left_out(operation: Operation) -> set[str]:
    """The files which the person did not want taken back."""
    return {unpack_path(path) for path in operation.scope.get("left_out", ())}
