"""What came of a salvage."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Table:
    """What came of one table, in rows: `saved` from the damaged file, `copied` from a daily copy, `lost` as
    far as is known; `unknown` says that more may be lost than could be counted."""

    name: str
    saved: int = 0
    copied: int = 0
    lost: int = 0
    unknown: bool = False


@dataclass(slots=True)
class Salvaged:
    """`tables` in the order of the file; `copy` is the newest daily copy that was used; `made` counts
    sessions and projects whose own row was lost and which were made anew, for what belongs to them."""

    tables: list[Table] = field(default_factory=list)
    copy: str = ""
    made: int = 0
