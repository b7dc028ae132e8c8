"""The table of keyboard shortcuts: what is in it acts, and no key means two things in a place."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from sessions.web.keys import clash, label, refusal, written
from sessions.web.shortcuts import COMMANDS, GROUPS, SHORTCUTS

ROOT = Path(__file__).parents[3]
SCRIPTS = [path.read_text() for path in (ROOT / "static" / "js").glob("*.js")]
ACTED = re.compile(r"\b(?:shortcut|isPressed|keys)\(\"([a-z-]+)\"")
CHANGEABLE = {one.name: one for one in SHORTCUTS.values() if not one.fixed}


def run_by_name() -> dict[str, set[str]]:
    """The names in each table of static/js/commands.js."""
    source = (ROOT / "static" / "js" / "commands.js").read_text()
    tables = re.findall(r"const (COMMANDS|ACTIONS) = \{(.*?)\n\};", source, re.DOTALL)
    found = {name: set(re.findall(r'^  "?([a-z-]+)"?[:,]', body, re.MULTILINE)) for name, body in tables}
    [elsewhere] = re.findall(r"const ELSEWHERE = \[(.*?)\]", source)
    return {**found, "ELSEWHERE": set(re.findall(r'"([a-z-]+)"', elsewhere))}


def test_each_shortcut_acts_and_is_listed() -> None:
    by_name = run_by_name()
    acted = {name for source in SCRIPTS for name in ACTED.findall(source)}
    assert acted | by_name["COMMANDS"] | by_name["ACTIONS"] == CHANGEABLE.keys()


def test_what_the_menu_offers_is_what_the_page_can_do() -> None:
    by_name = run_by_name()
    assert {one.name for one in COMMANDS} == by_name["COMMANDS"] | by_name["ELSEWHERE"]
    assert all(one.icon for one in COMMANDS)


def test_a_name_and_the_keys_of_a_place_mean_one_thing() -> None:
    assert len(SHORTCUTS) == sum(len(group.shortcuts) for group in GROUPS)
    held = [(one, way) for one in SHORTCUTS.values() for way in one.keys]
    clashes = [
        (one.name, way, other.name, its)
        for (one, way), (other, its) in combinations(held, 2)
        if clash(one, way, other, its)
    ]
    assert clashes == []


def test_the_keys_of_the_table_could_be_chosen_and_are_written_in_one_way() -> None:
    for one in CHANGEABLE.values():
        assert [written(way) for way in one.keys] == list(one.keys)
        assert [words for way in one.keys if (words := refusal(one, way))] == []


def test_keys_are_said_as_a_person_knows_them() -> None:
    said = {way: label(way) for way in ("g i", "Mod+b", "Escape Escape", "Shift+F6", "Ctrl+Plus", "?")}
    assert list(said.values()) == ["g i", "Ctrl+B", "Esc Esc", "Shift+F6", "Ctrl++", "?"]


def test_no_template_says_a_key_by_hand() -> None:
    by_hand = re.compile(r"title=\"[^\"]*\((?:Ctrl|Shift|g )|aria-keyshortcuts")
    for path in (ROOT / "templates").rglob("*.html"):
        assert not by_hand.search(path.read_text()), path.name
