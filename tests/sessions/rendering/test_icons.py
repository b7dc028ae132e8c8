"""Icons: one drawing of each, carried by the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opencode_web import locate
from sessions.rendering.html import html, icon

TEMPLATES = locate.root() / "templates"


def test_every_icon_that_a_template_names_is_drawn_once() -> None:
    used = {name for file in texts() for name in re.findall(r'{% icon "(\w+)" %}', file.read_text())}
    drawn = re.findall(r'<symbol id="icon-(\w+)"', html("icons.html"))
    assert used <= set(drawn)
    assert len(drawn) == len(set(drawn))


def test_an_icon_refers_to_its_drawing() -> None:
    assert '<use href="#icon-folder"/>' in icon("folder")
    assert "<path" not in icon("folder")


def test_an_icon_that_is_not_drawn_is_refused() -> None:
    with pytest.raises(KeyError):
        icon("nothing")


def texts() -> list[Path]:
    return list(TEMPLATES.rglob("*.html"))


def test_every_icon_that_a_program_names_is_drawn() -> None:
    programs = [file for room in ("sessions", "agents") for file in (TEMPLATES.parent / room).rglob("*.py")]
    named = re.compile(r'(?:\bicon\(|\b(?:icon|drawing)=)"(\w+)"')
    used = {name for file in programs for name in named.findall(file.read_text())}
    assert used
    for name in used:
        icon(name)
