"""The table of keyboard shortcuts: what is in it acts, and no key means two things in a place."""

from __future__ import annotations

import re
from pathlib import Path

from django.template import Context, Template

from sessions.web.shortcuts import GROUPS, KEYS, SHORTCUTS

SCRIPTS = Path(__file__).parents[3] / "static" / "js"
ACTED = re.compile(r"\b(?:shortcut|isPressed|keys)\(\"([a-z-]+)\"")


def test_each_shortcut_acts_and_is_listed() -> None:
    acted = {name for script in SCRIPTS.glob("*.js") for name in ACTED.findall(script.read_text())}
    assert acted == KEYS.keys()


def test_a_name_and_the_keys_of_a_place_mean_one_thing() -> None:
    assert len(SHORTCUTS) == sum(len(group.shortcuts) for group in GROUPS)
    for group in GROUPS:
        keys = [way for one in group.shortcuts for way in one.keys]
        assert group.in_text or len(keys) == len(set(keys)), group.title


def test_the_keys_of_the_whole_page_are_no_others_in_a_place() -> None:
    everywhere = {
        way for group in GROUPS for one in group.shortcuts for way in one.keys if "nywhere" in group.title
    }
    assert everywhere
    for group in GROUPS:
        if "nywhere" not in group.title and not group.in_text:
            assert not everywhere & {way for one in group.shortcuts for way in one.keys}, group.title


def test_keys_are_shown_as_a_person_knows_them() -> None:
    shown = Template("{% for name in names %}{% keys name %}|{% endfor %}")
    names = ["inbox", "fold-list", "stop", "hunk-next"]
    text = " ".join(shown.render(Context({"names": names})).split())
    kbd = re.sub(r"<kbd>(.*?)</kbd>", r"[\1]", text)
    assert kbd == "[g] [i] or [!]|[Ctrl] [B]|[Esc] [Esc]|[j]|"
