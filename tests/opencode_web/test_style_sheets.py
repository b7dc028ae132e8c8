"""Rules of style that a browser can keep up with on a long page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

SHEETS = sorted((Path(settings.BASE_DIR) / "static" / "css").glob("*.css"))
_PRELUDE = re.compile(r"([^{}]+)\{")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NESTED = re.compile(r"\([^()]*\)")
_AROUND = re.compile(
    r"(?:[^:]|:(?!has\())*?(?<![\w-])(?:body|html|[.#](?:layout|main|scroller|conversation))(?![\w-])"
)


def selectors(css: str) -> list[str]:
    preludes = [prelude.strip() for prelude in _PRELUDE.findall(_COMMENT.sub("", css))]
    return [one.strip() for prelude in preludes if prelude[:1] != "@" for one in _split(prelude, ",")]


def _split(selector: str, at: str) -> list[str]:
    """Cut at characters that stand outside of brackets."""
    pieces, depth = [""], 0
    for character in selector:
        depth += (character in "([") - (character in ")]")
        if character in at and not depth:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece for piece in pieces if piece.strip()]


def bare_subject(selector: str) -> bool:
    """Whether `:has()` stands before a subject without class, id or attribute: then every change of the page
    makes the browser look at all elements of that kind."""
    *before, subject = _split(selector, " >+~\n")
    while _NESTED.search(subject) and ":is(" not in subject:
        subject = _NESTED.sub("", subject)
    return any(":has(" in compound for compound in before) and not re.search(r"[.#\[]", subject)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_what_follows_has_is_named(sheet: Path) -> None:
    assert [selector for selector in selectors(sheet.read_text()) if bare_subject(selector)] == []


def looks_everywhere(selector: str) -> bool:
    """Whether `:has()` is asked of what the conversation is in: then each delta of an answer has the browser
    match all that any such rule is about anew. The page says it by an attribute (static/js/layout.js)."""
    return any(":has(" in compound and _AROUND.match(compound) for compound in _split(selector, " >+~\n"))


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_nothing_is_looked_for_in_the_whole_page(sheet: Path) -> None:
    assert [selector for selector in selectors(sheet.read_text()) if looks_everywhere(selector)] == []


def test_looking_everywhere_is_seen() -> None:
    wanted = ["body:has(.a) .b", ".layout[data-wide]:has(.a) p", ".main:has(.a)", ":is(.b, .layout):has(.a)"]
    fine = [
        ".a:has(.b)",
        ".main .a:has(.b)",
        "body .a:has(b)",
        ".layout[data-wide] ~ .a",
        ".main-thing:has(.a)",
    ]
    assert [selector for selector in wanted + fine if looks_everywhere(selector)] == wanted


def test_bare_subjects_are_seen() -> None:
    wanted = [".a:has(b) span::after", ".a:has(.b) > p", ".a:not(:has(b)) ::before", ".a:has(b) p:not(.c)"]
    fine = [
        ".a:has(b) .c",
        ".a span:has(b)",
        ".a:has(b) [data-c]",
        ".a:has(b, c)::after",
        ".a:has(b) :is(.c, d.e)",
    ]
    assert [selector for selector in wanted + fine if bare_subject(selector)] == wanted


LONGEST_MOTION = 0.2
"""Seconds."""
_MOTION = re.compile(r"(?:transition|animation)(?:-duration)?: ([^;}]+)")
_SECONDS = re.compile(r"--(?:quick|brisk): ([\d.]+)s")


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_motion_lasts_as_the_tokens_say(sheet: Path) -> None:
    """Only what goes on without end, as long as something lasts, has a time of its own."""
    motions = [motion for motion in _MOTION.findall(sheet.read_text()) if "infinite" not in motion]
    own = [motion for motion in motions if "none" not in motion and "var(--" not in motion]
    assert own == []


def test_motion_is_short() -> None:
    seconds = [float(value) for value in _SECONDS.findall((SHEETS[0].parent / "tokens.css").read_text())]
    assert len(seconds) == 2
    assert max(seconds) <= LONGEST_MOTION


ROOM = 48
"""Pixels from which on a length is the room of something that stands there, and no step of the scale."""
_SIZES = re.compile(r"(?<![-\w])((?:padding|margin|(?:row-|column-)?gap|font)(?:-[a-z-]+)?): ([^;}]+)")
_PIXELS = re.compile(r"(?<![\w./])([\d.]+)px")


def own_sizes(css: str) -> list[str]:
    """Paddings, margins, gaps and sizes of text in pixels; one pixel is a line's width and no space."""
    return [
        f"{name}: {value}"
        for name, value in _SIZES.findall(_COMMENT.sub("", css))
        if any(1 < float(pixels) < ROOM for pixels in _PIXELS.findall(value))
    ]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_spaces_and_sizes_are_of_one_scale(sheet: Path) -> None:
    assert own_sizes(sheet.read_text()) == []


def test_own_sizes_are_seen() -> None:
    wanted = ("padding: 3px", "margin-left: -8px", "gap: 0 9px", "font: 12px/1.5 a", "font-size: 12.5px")
    assert own_sizes("; ".join(wanted)) == list(wanted)
    assert own_sizes("top: 3px; margin: 1px -1px 0 var(--space-1); padding: 56px; --gap: 3px") == []
    assert own_sizes("font: var(--text-tiny)/20px a; letter-spacing: 2px; max-width: 4px") == []
