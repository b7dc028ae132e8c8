"""What a sed script does besides editing its input: files it reads and writes, commands it runs. Pure.

Source: the manual of GNU sed, "Commands" and "The s command".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from agents.toolkit.permission.words import Word

_ADDRESS: Final = re.compile(
    r"\s*(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)+/[IM]*)(?:\s*,\s*(?:[+~]?\d+|\$|/(?:[^/\\\n]|\\.)+/[IM]*))?)?\s*!?\s*"
)
_SIMPLE: Final = re.compile(r"[=dDgGhHnNpPxzFqQl]\s*\d*\s*(?=[;}\n]|$)")
_REPLACE: Final = re.compile(
    r"s([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1([gpiImM\d]*)", re.DOTALL
)
_MAP: Final = re.compile(r"y([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1")
_LABEL: Final = re.compile(r"[btT:][ \t]*[\w-]*\s*(?=[;}\n]|$)")
_INSERT: Final = re.compile(r"[aic](?:[^\n\\]|\\.)*(?=\n|$)", re.DOTALL)
_FILE: Final = re.compile(r"([rRwW])[ \t]*([^\n]+)")
_BLANK: Final = re.compile(r"[\s;{}]+|#[^\n]*")
_OPTIONS: Final = re.compile(
    r"-[nErsuz]+|-i\S*|--(?:in-place(?:=.*)?|quiet|silent|regexp-extended|null-data|posix|debug)"
)


@dataclass(slots=True)
class Effects:
    """`understood` is False for a script that runs something or that could not be read."""

    understood: bool = True
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)


def effects(words: Sequence[Word]) -> Effects:
    """Of `sed` with its arguments."""
    scripts: list[str] = []
    rest = list(words[1:])
    result = Effects()
    while rest:
        word = rest.pop(0)
        # What the shell expands may be an option; a script it made cannot be read.
        result.understood &= not word.dynamic or (bool(scripts) and word.known[:1] not in ("", "-"))
        if word.text in ("-e", "--expression", "-ne", "-Ee", "-re") and rest:
            result.understood &= not rest[0].dynamic
            scripts.append(rest.pop(0).text)
        elif word.text.startswith("--expression="):
            scripts.append(word.text.removeprefix("--expression="))
        elif word.text.startswith("-") and word.text != "-":
            result.understood &= _OPTIONS.fullmatch(word.text) is not None
        elif not scripts:
            scripts.append(word.text)
    _read("\n".join(scripts), result)
    return result


def _read(script: str, result: Effects) -> None:
    at = 0
    while at < len(script):
        if blank := _BLANK.match(script, at):
            at = blank.end()
            continue
        address = _ADDRESS.match(script, at)
        at = address.end() if address else at
        if script[at : at + 1] in ("{", "}", ";", ""):
            at += 1
            continue
        if found := _FILE.match(script, at):
            (result.reads if found[1] in "rR" else result.writes).append(found[2])
        elif found := _REPLACE.match(script, at):
            if script[found.end() : found.end() + 1] == "w":
                target = re.compile(r"w[ \t]*([^\n]+)").match(script, found.end())
                result.writes += [target[1]] if target else []
                at = target.end() if target else len(script)
                continue
            if script[found.end() : found.end() + 1] not in ("", ";", "}", "\n", " "):
                result.understood = False
                return
        else:
            found = next((m for p in (_SIMPLE, _LABEL, _MAP, _INSERT) if (m := p.match(script, at))), None)
        if not found:
            result.understood = False
            return
        at = found.end()
