"""Text of models, tools and files made fit to be shown. All of it in time that grows with the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from unicodedata import category

from sessions.core.sentences import sentence_of

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[PX^_][^\x1b]{0,4096}\x1b\\"  # DCS and other strings
    r"|[ -/]*[0-~])"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONG_LINE = 2000
MARKS = 4
"""Combining marks on one character: languages need no more, and a flood of them covers the lines around."""

_BLANK = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff"
)
"""What shows nothing, though it is no format character: fillers, selectors, tags, the blank of Braille."""
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
    "\u3297\u3299\U0001f000-\U0001faff"
)


def wellformed(text: str) -> str:
    """The same text without lone surrogates, which no encoder takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def error_text(error: BaseException) -> str:
    """What an error says; its kind where it says nothing, as those of httpx and asyncio often do."""
    return sentence_of(error) or type(error).__name__


def visible(text: str) -> str:
    """What would act or show nothing (controls, directions, format characters, fillers, selectors, tags,
    floods of combining marks) written as a symbol or an escape: for commands, names and titles, by which a
    person decides. Selector and joiner stay where they belong to an emoji."""
    return (_CONTROL if text.isascii() else _unseen()).sub(_symbol, wellformed(text))


def prose(text: str) -> str:
    """The same for what people and models say, where only controls and directions are written out: several
    languages are spelled with joiners."""
    return _CONTROL.sub(_symbol, wellformed(text))


@cache
def _unseen() -> re.Pattern[str]:
    """By Python's own table of Unicode, read at the first text that needs it."""
    codes: dict[str, list[int]] = {}
    for code in chain(range(0x09), range(0x0B, 0x1F000), range(0xE0000, 0xE0200)):
        codes.setdefault(category(chr(code)), []).append(code)
    unseen = _BLANK + "".join(_ranges(codes[kind]) for kind in ("Cc", "Cf", "Zl", "Zp"))
    mark = f"[{_ranges(codes['Mn'])}{_ranges(codes['Me'])}]"
    emoji = rf"(?<![{_EMOJI}]\ufe0f)(?<![0-9#*]\ufe0f(?=\u20e3))(?<![{_EMOJI}\ufe0f]\u200d(?=[{_EMOJI}]))"
    return re.compile(rf"[{unseen}]{emoji}|{mark}(?<={mark * (MARKS + 1)})")


def _ranges(codes: Iterable[int]) -> str:
    """Of a character class."""
    found: list[list[int]] = []
    for code in codes:
        if found and code == found[-1][1] + 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in found)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def terminal(text: str) -> str:
    """Output of a command as a terminal would leave it: no escape sequences, overwritten lines gone."""
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return visible(text)


def shown_output(text: str, *, limit: int = 64 * 1024) -> str:
    """Output of a command, in at most about `limit` characters: cut before it is worked on."""
    return _short_lines(terminal(_without_middle(text, limit)))


def bounded(text: str, *, limit: int = 64 * 1024) -> str:
    """At most `limit` characters, the middle cut out, with lines short enough for a browser to lay out."""
    return _short_lines(_without_middle(text, limit))


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = len(text) - limit
    return f"{text[: limit // 2]}\n… {cut:,} characters left out …\n{text[-limit // 2 :]}"


def _short_lines(text: str) -> str:
    return "\n".join(_short(line) for line in text.split("\n"))


def _short(line: str) -> str:
    return line if len(line) <= _LONG_LINE else f"{line[:_LONG_LINE]} … {len(line) - _LONG_LINE:,} more"


def last_lines(text: str, count: int, *, width: int = 400) -> str:
    """The end of a growing output, bounded in lines and in characters a line."""
    lines = text[-count * width * 4 :].rstrip("\n").split("\n")[-count:]
    return "\n".join(line[:width] for line in lines)
