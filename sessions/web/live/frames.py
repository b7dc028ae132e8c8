"""A frame for the browser socket: fragments to swap in, elements to make first, the cursor reached."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sessions.rendering.blocks import Update


@dataclass(slots=True)
class Frame:
    """`missing` elements are made by the browser when it has none with their id: `{"parent", "id", "html"}`.

    They are put in order of their ids, which rise with time. `refresh` asks for the page's rows anew.
    """

    seq: int | None = None
    html: list[str] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)
    refresh: bool = False

    def __bool__(self) -> bool:
        return bool(self.html or self.missing or self.refresh or self.seq is not None)

    def ensure(self, parent: str, element_id: str, html: str) -> None:
        self.missing.append({"parent": parent, "id": element_id, "html": html})

    def remove(self, element_id: str) -> None:
        self.html.append(f'<div id="{element_id}" hx-swap-oob="delete"></div>')

    def stream(self, part_id: str, update: Update) -> None:
        """What a text part gained; see `templates/parts/text.html` for the ids."""
        if update.closed:
            self._into("beforeend", f"{part_id}-closed", update.closed)
        if update.open is not None:
            self._into("innerHTML", f"{part_id}-open", update.open)
        if update.grown:
            self._into("beforeend", f"{part_id}-grow", update.grown)

    def _into(self, swap: str, element_id: str, html: str) -> None:
        self.html.append(f'<div hx-swap-oob="{swap}:#{element_id}">{html}</div>')

    def json(self) -> str:
        """The frame as it is sent; absent keys are empty."""
        frame: dict[str, Any] = {"seq": self.seq}
        if self.html:
            frame["html"] = "".join(self.html)
        if self.missing:
            frame["missing"] = sorted(self.missing, key=_depth)
        if self.refresh:
            frame["refresh"] = True
        return json.dumps(frame, ensure_ascii=False)


def _depth(element: dict[str, str]) -> int:
    """Messages are made before their parts, though events of a batch may come the other way round; and
    calls before the calls within them."""
    parent = element["parent"]
    return 0 if parent == "messages" else 1 if parent.endswith("-parts") else 2
