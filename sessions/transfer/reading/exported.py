"""The JSON of `opencode export`: `{"info", "messages": [{"info", "parts"}]}`; ours has `children` besides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sessions.core.sentences import Sentence, joined, sentence_of

from .json_file import load
from .records import MAX_RECORD, Conversation, Header, Problem, Unreadable, Wire, mapping, number, text

MAX_FILE = 256 * 1024 * 1024
"""Bytes: such a file is read as a whole."""


class Exported:
    kind = "export"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._sessions: dict[str, Wire] = {}

    def headers(self) -> list[Header]:
        try:
            found = load(self.path, MAX_FILE)
        except Unreadable as error:
            raise Unreadable(joined((str(self.path), sentence_of(error)), ": ")) from error
        if not _is_session(found):
            raise Unreadable(
                Sentence("%(path)s is no export of OpenCode: it lacks `info` or `messages`", path=self.path)
            )
        self._sessions = {text(tree["info"]["id"]): tree for tree in _flat(found)}
        return [_header(tree) for tree in self._sessions.values()]

    def read(self, header: Header) -> Conversation:
        tree = self._sessions[header.id]
        read = Conversation(info=_without_patch(tree["info"]), todos=_objects(tree.get("todos")))
        for index, entry in enumerate(tree["messages"]):
            where = f"{header.id}/messages[{index}]"
            if not isinstance(entry, dict) or not isinstance(entry.get("info"), dict):
                read.problems.append(Problem(where, Sentence("holds no message")))
                continue
            parts = []
            for part in entry.get("parts") or ():
                if not isinstance(part, dict) or self._too_large(part):
                    reason = (
                        Sentence("larger than %(most)s MB", most=32)
                        if isinstance(part, dict)
                        else Sentence("holds no JSON object")
                    )
                    read.problems.append(
                        Problem(
                            f"{where}/parts/{mapping(part).get('id', '?')}",
                            reason,
                        )
                    )
                else:
                    parts.append(part)
            read.entries.append({"info": entry["info"], "parts": parts})
        return read

    def size(self) -> int:
        return self.path.stat().st_size

    def leftovers(self, headers: Sequence[Header]) -> Iterator[Problem]:
        yield from ()

    def close(self) -> None:
        """Nothing stays open."""

    def _too_large(self, part: Wire) -> bool:
        return self.size() > MAX_RECORD and len(json.dumps(part, ensure_ascii=False)) > MAX_RECORD


def _is_session(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and bool(text(mapping(found.get("info")).get("id")))
        and isinstance(found.get("messages"), list)
    )


def _flat(tree: Wire) -> Iterator[Wire]:
    """A session and those below it."""
    waiting = [tree]
    while waiting:
        found = waiting.pop()
        yield found
        children = found.get("children")
        waiting += filter(_is_session, children if isinstance(children, list) else [])


def _without_patch(info: Wire) -> Wire:
    """A file is nobody's consent: a redo would write what its patch says."""
    revert = mapping(info.get("revert"))
    return {**info, "revert": {key: revert[key] for key in revert if key != "diff"}} if revert else info


def _header(tree: Wire) -> Header:
    info = tree["info"]
    return Header(
        id=text(info["id"]),
        parent=text(info.get("parentID")),
        title=text(info.get("title")),
        directory=text(info.get("directory")),
        worktree="",
        project=text(info.get("projectID")),
        updated=number(mapping(info.get("time")).get("updated")),
        messages=len(tree["messages"]),
    )


def _objects(found: Any) -> list[Wire]:
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
