"""Text of models, tools and files made fit to be shown."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[PX^_][^\x1b]{0,4096}\x1b\\"  # DCS and other strings
    r"|[ -/]*[0-~])"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n|$)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONG_LINE = 2000


def wellformed(text: str) -> str:
    """The same text without lone surrogates, which no encoder takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def visible(text: str) -> str:
    """Control characters and direction overrides shown as symbols instead of acting."""
    return _CONTROL.sub(_symbol, wellformed(text))


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"


def terminal(text: str) -> str:
    """Output of a command as a terminal would leave it: no escape sequences, overwritten lines gone."""
    text = _ANSI.sub("", text)
    text = _OVERWRITTEN.sub("", text) if "\r" in text else text
    return visible(text.replace("\r", ""))


def bounded(text: str, *, limit: int = 64 * 1024) -> str:
    """At most `limit` characters, the middle cut out, with lines short enough for a browser to lay out."""
    if len(text) > limit:
        cut = len(text) - limit
        text = f"{text[: limit // 2]}\n… {cut:,} characters left out …\n{text[-limit // 2 :]}"
    return "\n".join(_short(line) for line in text.split("\n"))


def _short(line: str) -> str:
    return line if len(line) <= _LONG_LINE else f"{line[:_LONG_LINE]} … {len(line) - _LONG_LINE:,} more"


def last_lines(text: str, count: int, *, width: int = 400) -> str:
    """The end of a growing output, bounded in lines and in characters a line."""
    lines = text[-count * width * 4 :].rstrip("\n").split("\n")[-count:]
    return "\n".join(line[:width] for line in lines)
