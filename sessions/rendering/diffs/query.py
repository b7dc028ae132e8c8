"""How a diff is read: the view, whether white space counts, and which piece of it is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import urlencode

View = Literal["unified", "split"]
Take = Literal["up", "down", "all"]

_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Reading:
    """`rows` is a range of the diff's rows, counted from 0. `gap` is a range [start, end) of lines of the new
    side, from 1, that no hunk covers; `take` says from which end lines of it are shown."""

    view: View = "unified"
    whitespace: bool = True
    rows: tuple[int, int] | None = None
    gap: tuple[int, int] | None = None
    take: Take = "all"

    @classmethod
    def asked(cls, query: Mapping[str, str]) -> Reading:
        """From `view`, `w=1` (white space does not count), `rows`, `gap`, `take`; bad input is left out."""
        take = query.get("take", "")
        return cls(
            "split" if query.get("view") == "split" else "unified",
            query.get("w") != "1",
            _range(query.get("rows", "")),
            _range(query.get("gap", "")),
            cast(Take, take) if take in ("up", "down") else "all",
        )

    @property
    def piece(self) -> bool:
        """Whether a part of a table that is on the page already is asked for, and not the whole."""
        return bool(self.rows or self.gap)

    def query(self) -> str:
        """How to read the pieces of what was asked for, for a URL."""
        return urlencode({"view": self.view, **({} if self.whitespace else {"w": "1"})})


def _range(text: str) -> tuple[int, int] | None:
    found = _RANGE.fullmatch(text)
    if not found or int(found[1]) >= int(found[2]):
        return None
    return int(found[1]), int(found[2])
