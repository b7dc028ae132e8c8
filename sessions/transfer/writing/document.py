"""A session as it stands, with the sessions of its subagents: what every form of an export is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from sessions.core.models import Session
from sessions.core.store import messages
from sessions.core.store.rows import session_wire
from sessions.transfer.reading.records import BESIDE_TEXT

Wire = dict[str, Any]


@dataclass(slots=True)
class Document:
    """`info` and `messages` are wire shapes, the messages with what is undone; `runs`: a turn was at work."""

    info: Wire
    messages: list[Wire]
    runs: bool = False
    children: list[Document] = field(default_factory=list)

    def wire(self) -> Wire:
        """What `opencode export` writes and `opencode import` takes; it passes over our `children`."""
        data: Wire = {"info": self.info, "messages": [_as_theirs(entry) for entry in self.messages]}
        return data | {"children": [child.wire() for child in self.children]} if self.children else data

    def shown(self) -> list[Wire]:
        """The messages without what is undone."""
        end = (self.info.get("revert") or {}).get("messageID")
        return [entry for entry in self.messages if not end or entry["info"]["id"] < end]

    def every(self) -> Iterator[Document]:
        """This one and all below."""
        yield self
        for child in self.children:
            yield from child.every()


def _as_theirs(entry: Wire) -> Wire:
    """OpenCode says nothing of reasoning that its server has beside the text."""
    return {**entry, "parts": [_bare(part) for part in entry["parts"]]}


def _bare(part: Wire) -> Wire:
    if part["type"] == "reasoning" and part.get("metadata") == BESIDE_TEXT:
        return {key: value for key, value in part.items() if key != "metadata"}
    return part


def collect(session: Session) -> Document:
    """All of it as of one moment: nothing else is written meanwhile. On the ORM's thread."""
    with transaction.atomic():
        return _collect(session, set())


def _collect(session: Session, above: set[str]) -> Document:
    above = above | {session.id}
    rows = Session.objects.filter(parent_id=session.id, time_deleted=None).exclude(id__in=above)
    info = session_wire(session)
    info.pop("share", None)  # whoever has the file is not given the address as well
    return Document(
        info=info,
        messages=messages.history(session.id),
        runs=(session.status or {}).get("type", "idle") != "idle",
        children=[_collect(row, above) for row in rows.order_by("time_created", "-id")],
    )


def as_json(document: Document) -> str:
    return json.dumps(document.wire(), ensure_ascii=False, indent=2) + "\n"
