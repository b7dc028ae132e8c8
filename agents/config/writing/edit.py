"""Change a JSONC text so that it says something else, and leave alone what already says it.

Comments, order and layout of what stays are kept; a comment on the line of a removed key goes with it. New
keys follow the last one of their object, indented like it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agents.config.jsonc import Braces, Document, Member, Path

_INDENT = "  "
_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?")
"""What may stand between a value and the end of its line."""
_LINE_END = re.compile(r"[ \t]*\r?\n")

Edit = tuple[int, int, str]
"""The text between two offsets and what takes its place."""


def edited(text: str, wanted: dict[str, Any]) -> str:
    """The text of an object, changed so that it parses as `wanted`. Raises JsoncError."""
    document = Document(text)
    edits = sorted(_Edits(text, document).of((), document.value, wanted), key=lambda edit: edit[:2])
    pieces, at = [], 0
    for start, end, new in edits:
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


class _Edits:
    def __init__(self, text: str, document: Document) -> None:
        self._text = text
        self._objects = document.objects
        self._newline = "\r\n" if "\r\n" in text else "\n"
        root = document.objects[()]
        own = self._indent_of(root.members[0].start) if root.members else ""
        self._unit = own or _INDENT

    def of(self, path: Path, now: dict[str, Any], wanted: dict[str, Any]) -> Iterator[Edit]:
        """The edits of one object and those below it; none overlap."""
        braces = self._objects[path]
        last = {member.key: member for member in braces.members}
        for key in now.keys() & wanted.keys():
            if isinstance(now[key], dict) and isinstance(wanted[key], dict):
                yield from self.of((*path, key), now[key], wanted[key])
            elif json.dumps(now[key]) != json.dumps(wanted[key]):  # as JSON: `1` is not `true`
                member = last[key]
                yield member.value, member.end, self._written(wanted[key], member.start)
        yield from self._membership(braces, wanted, {k: v for k, v in wanted.items() if k not in now})

    def _membership(self, braces: Braces, wanted: dict[str, Any], added: dict[str, Any]) -> Iterator[Edit]:
        """Members that leave and come."""
        stay = [member for member in braces.members if member.key in wanted]
        yield from (self._cut(member) for member in braces.members if member.key not in wanted)
        if added and stay:
            yield from self._after(stay[-1], braces, added)
        elif added:
            yield self._first(braces, added)
        elif stay and stay[-1].comma and braces.members[-1] is not stay[-1] and not braces.members[-1].comma:
            yield stay[-1].comma - 1, stay[-1].comma, ""

    def _after(self, member: Member, braces: Braces, added: dict[str, Any]) -> Iterator[Edit]:
        """New members behind one that stays, and behind the comment beside it."""
        inline = "\n" not in self._text[braces.start : braces.members[0].start]
        place = member.comma or member.end
        lead = " " if inline else self._newline + self._indent_of(member.start)
        lines = (self._line(key, value, member.start, inline) for key, value in added.items())
        if member.comma is None:
            yield member.end, member.end, ","
        if not inline:
            beside = _BESIDE.match(self._text, place)
            place = beside.end() if beside else place
        yield place, place, lead + f",{lead}".join(lines)

    def _first(self, braces: Braces, added: dict[str, Any]) -> Edit:
        """New members of an object in which nothing stays."""
        around = self._indent_of(braces.start - 1, whole=True)
        lead = self._newline + around + self._unit
        lines = (f"{json.dumps(k, ensure_ascii=False)}: {self._dump(v, lead)}" for k, v in added.items())
        open_end = "\n" not in self._text[braces.start : braces.end]
        close = self._newline + around if open_end else ""
        return braces.start, braces.start, lead + f",{lead}".join(lines) + close

    def _line(self, key: str, value: Any, beside: int, inline: bool) -> str:
        written = json.dumps(value, ensure_ascii=False) if inline else self._written(value, beside)
        return f"{json.dumps(key, ensure_ascii=False)}: {written}"

    def _written(self, value: Any, beside: int) -> str:
        """A value as it is written in the line of the offset."""
        return self._dump(value, self._newline + self._indent_of(beside, whole=True))

    def _dump(self, value: Any, lead: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=self._unit).replace("\n", lead)

    def _cut(self, member: Member) -> Edit:
        """Without its comma; with its line, where nothing else is on it."""
        start, end = member.start, member.comma or member.end
        first = self._text.rfind("\n", 0, start) + 1
        if not self._text[first:start].strip(" \t"):
            beside = _BESIDE.match(self._text, end)
            ended = _LINE_END.match(self._text, beside.end() if beside else end)
            if ended:
                return first, ended.end(), ""
        return start, end, ""

    def _indent_of(self, offset: int, whole: bool = False) -> str:
        """The blanks in front of an offset, if nothing else is; `whole`: those its line begins with."""
        before = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        blanks = before[: len(before) - len(before.lstrip(" \t"))]
        return blanks if whole or blanks == before else ""
