"""The patch format that GPT models write: read it, and find the places it means.

`*** Begin Patch`, sections for files to add, update, move or delete, `*** End Patch`. Source: OpenAI's public
description of the format for `apply_patch`. A section of an update has chunks; each begins with `@@`
(optionally followed by a line that is found further up in the file, such as the head of a function) and has
lines that begin with a space (context), `-` (removed) or `+` (added).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agents.toolkit.shared import indentation
from sessions.core import filetext

BEGIN, END = "*** Begin Patch", "*** End Patch"
_SECTIONS: dict[str, Literal["add", "update", "delete"]] = {
    "*** Add File:": "add",
    "*** Update File:": "update",
    "*** Delete File:": "delete",
}
_MOVE, _END_OF_FILE = "*** Move to:", "*** End of File"


class PatchError(ValueError):
    """The patch is not well formed; the text names the line."""


@dataclass(slots=True)
class Chunk:
    """Replace `old` lines by `new` lines, below the `anchors`; `at_end`: at the end of the file. `lines` are
    both, each behind its sign."""

    anchors: list[str] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [line for sign, line in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        return [line for sign, line in self.lines if sign != "-"]


@dataclass(slots=True)
class Section:
    """What happens to one file. `added` are the lines of a new file."""

    kind: Literal["add", "update", "delete"]
    path: str
    move_to: str = ""
    added: list[str] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)


def parse(text: str) -> list[Section]:
    """The sections of a patch in order. Raises PatchError."""
    lines = _without_gaps(_body(text))
    sections: list[Section] = []
    for number, line in lines:
        header = next((name for name in _SECTIONS if line.startswith(name)), None)
        if header:
            sections.append(Section(_SECTIONS[header], _path(line, header, number)))
        elif sections:
            _take(sections[-1], line, number)
        elif line.strip():
            raise PatchError(f"Line {number}: expected *** Add, Update or Delete File:, found {line!r}.")
    if not sections:
        raise PatchError("The patch changes no file.")
    for section in sections:
        _check(section)
    return sections


_HEREDOC = re.compile(r"(?:\w+ +)?<<-?\s*(?P<quote>['\"]?)(?P<tag>\w+)(?P=quote)")
"""How a shell would be given the patch."""


def _body(text: str) -> list[tuple[int, str]]:
    """The numbered lines between the first and the last line of the patch."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    opened = _HEREDOC.fullmatch(lines[0].strip())
    if opened and lines[-1].strip() == opened["tag"]:
        return [(number + 1, line) for number, line in _body("\n".join(lines[1:-1]))]
    if lines[0].strip() != BEGIN:
        raise PatchError(f"The first line must be {BEGIN!r}.")
    if lines[-1].strip() != END:
        raise PatchError(f"The last line must be {END!r}.")
    return list(enumerate(lines[1:-1], 2))


def _without_gaps(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Without blank lines between sections or chunks: what is context has a sign."""
    kept: list[tuple[int, str]] = []
    for number, line in [*lines, (0, "@@")]:
        if line.startswith((*_SECTIONS, _MOVE, "@@")):
            while kept and not kept[-1][1]:
                kept.pop()
        kept.append((number, line))
    return kept[:-1]


def _path(line: str, header: str, number: int) -> str:
    path = line.removeprefix(header).strip()
    if not path:
        raise PatchError(f"Line {number}: {header} names no file.")
    return path


def _take(section: Section, line: str, number: int) -> None:
    if section.kind == "add":
        if not line.startswith("+"):
            raise PatchError(f"Line {number}: every line of a new file begins with '+', found {line!r}.")
        section.added.append(line[1:])
    elif section.kind == "delete":
        if line.strip():
            raise PatchError(f"Line {number}: nothing may follow the deletion of {section.path}.")
    elif line.startswith(_MOVE) and not section.chunks:
        section.move_to = _path(line, _MOVE, number)
    else:
        _take_change(section, line, number)


def _take_change(section: Section, line: str, number: int) -> None:
    last = section.chunks[-1] if section.chunks else None
    if line.startswith("@@"):
        if last is None or last.lines:
            last = Chunk()
            section.chunks.append(last)
        if anchor := line[2:].strip():
            last.anchors.append(anchor)
        return
    if last is None:
        last = Chunk()
        section.chunks.append(last)
    if line == _END_OF_FILE:
        last.at_end = True
    elif not line:
        last.lines.append((" ", ""))
    elif line[0] in " -+":
        last.lines.append((line[0], line[1:]))
    else:
        raise PatchError(f"Line {number}: expected a line that begins with ' ', '-', '+' or @@: {line!r}.")


def _check(section: Section) -> None:
    section.chunks = [chunk for chunk in section.chunks if chunk.lines]
    if section.kind == "update" and not section.chunks and not section.move_to:
        raise PatchError(f"The update of {section.path} changes nothing.")


_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
    }
)


def _plain(line: str) -> str:
    return unicodedata.normalize("NFC", line.translate(_PLAIN)).strip()


_LENIENCE: dict[str, Callable[[str], str]] = {
    "": str,
    "white space at the ends of lines": str.rstrip,
    "indentation": str.strip,
    "indentation and typographic signs": _plain,
}
"""What is not looked at; tried one after the other on both sides, the strictest that fits wins."""


def applied(lines: Sequence[str], chunks: Sequence[Chunk]) -> tuple[list[str], list[str]]:
    """The lines of a file, each with its end, with the chunks applied in order; and what was not looked at
    to find them, in words. Raises PatchError naming what was not found."""
    bare = [line.removesuffix("\n").removesuffix("\r") for line in lines]
    result: list[str] = []
    notes: list[str] = []
    done = 0
    for chunk in chunks:
        start = done
        for anchor in chunk.anchors:
            found = _find(bare, [anchor], start)
            if found is None:
                raise PatchError(f"the line {anchor!r} after @@ was not found")
            start = found[0] + 1
        at, lenience = _place(bare, chunk, start)
        if lenience:
            notes.append(f"lines from {at + 1} on were not there exactly; found without {lenience}")
        result += [*lines[done:at], *_fitted(lines, bare, at, chunk)]
        done = at + len(chunk.old)
    return [*result, *lines[done:]], notes


def _place(lines: Sequence[str], chunk: Chunk, start: int) -> tuple[int, str]:
    old = chunk.old
    if not old:
        return start if chunk.anchors else len(lines), ""
    if chunk.at_end:
        last = len(lines) - len(old)
        if last >= start and (found := _find(lines, old, last)):
            return found
    if found := _find(lines, old, start):
        return found
    shown = "\n".join(old[:8])
    raise PatchError(f"these lines were not found after line {start}:\n{shown}")


def _find(lines: Sequence[str], wanted: Sequence[str], start: int) -> tuple[int, str] | None:
    """Where the lines wanted begin, and what was not looked at for it."""
    for words, lenient in _LENIENCE.items():
        sought = [lenient(line) for line in wanted]
        seen = [lenient(line) for line in lines]
        for at in range(start, len(lines) - len(sought) + 1):
            if seen[at : at + len(sought)] == sought:
                return at, words
    return None


def _fitted(lines: Sequence[str], bare: Sequence[str], at: int, chunk: Chunk) -> list[str]:
    """The new lines: those of the context as the file has them, byte for byte, the others indented as it is,
    unless their indentation is all that the chunk changes."""
    old = chunk.old
    found = lines[at : at + len(old)]
    forms: dict[str, set[str]] = {}
    for line, form in zip(old, bare[at : at + len(old)], strict=True):
        forms.setdefault(line, set()).add(form)
    known = {line: form for line, (form, *others) in forms.items() if not others}
    added = [line for sign, line in chunk.lines if sign == "+"]
    pairs = zip(old, bare[at : at + len(old)], strict=True)
    fresh = iter(indentation.fitted([line for line in added if line not in known], bare, pairs))
    ending = filetext.newline("".join(found or lines))

    def made(added: Iterable[str]) -> list[str]:
        there, put_in = iter(found), (f"{line}{ending}" for line in added)
        picked = [(sign, next(put_in) if sign == "+" else next(there)) for sign, _ in chunk.lines]
        return [line for sign, line in picked if sign != "-"]

    indented = made([known[line] if line in known else next(fresh) for line in added])
    return indented if indented != found else made([known.get(line, line) for line in added])
