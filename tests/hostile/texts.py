"""Texts made to be costly, by size: `TEXTS[name](n)` has about n characters. Add to them freely."""

from __future__ import annotations

from collections.abc import Callable


def _many(piece: str, end: str = "") -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece)) + end


def _nested(opening: str, closing: str) -> Callable[[int], str]:
    def made(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return made


def _stairs(size: int) -> str:
    """Lists within each other, each a step further in."""
    lines, depth = [], 0
    while size > 0:
        lines.append("  " * depth + "- x\n")
        size -= len(lines[-1])
        depth += 1
    return "".join(lines)


TEXTS: dict[str, Callable[[int], str]] = {
    # Lines
    "one line": _many("x"),
    "one line, CR LF": _many("x", "\r\n"),
    "one line, CR CR LF": _many("x", "\r\r\n"),
    "returns": _many("\r"),
    "returns in a line": _many("x\r"),
    "empty lines": _many("\n"),
    "CR LF": _many("\r\n"),
    "short lines": _many("x\n"),
    "blanks": _many(" "),
    "blanks, then a word": _many(" ", "x"),
    "tabs": _many("\t"),
    # Terminals
    "colours": _many("\x1b[1m"),
    "open CSI": _many("\x1b["),
    "CSI without end": lambda size: "\x1b[" + "1;" * (size // 2),
    "open OSC": _many("\x1b]"),
    "OSC without end": lambda size: "\x1b]" + "x" * size,
    "open DCS": _many("\x1bP"),
    "escapes": _many("\x1b"),
    # Characters
    "zero width": _many("\u200b"),
    "marks": _many("\u0301"),
    "emoji joined": _many("\U0001f469\u200d"),
    "selectors": _many("\u26a0\ufe0f"),
    "overrides": _many("\u202e"),
    "tags": _many("\U000e0041"),
    "surrogates": _many("\ud800"),
    # Markdown
    "images": _many("!["),
    "links": _many("["),
    "links closed": _nested("[", "]"),
    "link targets": _many("[a](<b"),
    "references": _many("[a]: b\n"),
    "emphasis": _many("*a "),
    "emphasis mixed": _many("*a_ "),
    "strong": _many("**a"),
    "strikethrough": _many("~~a"),
    "code": lambda size: "".join("`" * n + " " for n in range(1, int((2 * size) ** 0.5))),
    "backquotes": _many("`"),
    "quotes": _many("> "),
    "quotes within": _many(">"),
    "lists within": _many("- "),
    "stairs of lists": _stairs,
    "lists": _many("- x\n"),
    "numbers": _many("1. "),
    "entities": _many("&"),
    "escaped": _many("\\"),
    "autolinks": _many("<a:"),
    "html open": _many("<!--"),
    "html questions": _many("<?"),
    "cells": _many("|a"),
    "table": lambda size: "|a|b|\n|-|-|\n" + "|x|y|\n" * (size // 6),
    "wide table": lambda size: "|a" * (size // 4) + "|\n" + "|-" * (size // 4) + "|\n|",
    "fences": _many("```\n"),
    "headings": _many("#"),
    "dollars": _many("$"),
    "dollars open": _many("$a "),
    "formulas": _many("$a$ "),
    "formulas open": _many("\\(a "),
    "formulas standing": _many("$$\n"),
    "brackets standing": _many("\\[\n"),
    "underlines": _many("a\n=\n"),
    # HTML
    "tags in tags": _many("<a <<a "),
    "open tags": _many("<div>"),
    "nested tags": _nested("<div>", "</div>"),
    "nested lists": _many("<ul><li>"),
    "open scripts": _many("<script"),
    "angles": _many("<"),
    "attributes": lambda size: "<a " + "b=" * (size // 2),
    # Code
    "member access": _many("a."),
    "open strings": _many("\"'"),
    "braces": _nested("{", "}"),
    "brackets": _nested("(", ")"),
    "open comment": lambda size: "/*" + "*" * size,
    "comments opened": _many("/*"),
    "digits": _many("1"),
    # JSON
    "lists of JSON": _nested("[", "]"),
    "open lists": _many("["),
    "open objects": _many('{"a":'),
    "values": lambda size: "[" + "1," * (size // 2) + "1]",
    "quotes escaped": lambda size: '"' + '\\"' * (size // 2),
    "half characters": lambda size: '"' + "\\ud800" * (size // 6) + '"',
    # Patches
    "hunks": _many("@@ -1,1 +1,1 @@\n-a\n+b\n"),
    "heads": _many("@@ -1 +1 @@\n"),
    "signs": _many("-\n+\n"),
    "patched files": _many("*** Add File: a\n"),
    # What the tools and the pages look for
    "results": _many("<task_result>\n"),
    "mentions": _many("@a"),
    "places": _many("$1"),
    "shell in a template": _many("!`"),
    "keys": _many("sk-"),
    "addresses": _many("https://a:"),
    "paths": _many("../"),
    "fences of front matter": _many("---\n"),
}
