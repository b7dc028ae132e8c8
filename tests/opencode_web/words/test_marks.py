"""Whatever people read can be translated: it is marked, in templates, in Python and in scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from tests.opencode_web.words import marks

ROOT = Path(settings.BASE_DIR)
ROOMS = ("agents/web", "opencode_web/nodes", "opencode_web/people", "opencode_web/site", "sessions/web")
"""Where pages are made in Python."""
BELOW = ("agents", "opencode_web/nodes", "sessions")
ENGLISH = ("agents/api/", "agents/tools/", "sessions/api/")
"""Answer clients and models."""
GUARDS = ("opencode_web/site/security/", "opencode_web/site/preview/guard.py")
"""Answer as the API does, in English."""


def files() -> dict[str, Callable[[str], list[str]]]:
    """By path, with what finds the texts in it that are not marked."""
    known: dict[str, Callable[[str], list[str]]] = {}
    for folder, kind, find in (
        ("templates", "*.html", marks.in_template),
        ("static/js", "*.js", marks.in_script),
        *((room, "*.py", marks.in_python) for room in ROOMS),
    ):
        known |= {str(path.relative_to(ROOT)): find for path in sorted((ROOT / folder).rglob(kind))}
    return {name: find for name, find in known.items() if not name.startswith(GUARDS)}


FILES = files()
SOURCES = sorted(
    name
    for room in BELOW
    for path in (ROOT / room).rglob("*.py")
    if not (name := str(path.relative_to(ROOT))).startswith(ENGLISH)
)


def unmarked(name: str) -> list[str]:
    return FILES[name]((ROOT / name).read_text())


def test_what_has_a_mark_is_told_from_what_has_none() -> None:
    said = """<p title="{% translate 'Go' %}">{% translate "Stop it" %} {# it #}{{ it }} · opencode-web</p>"""
    assert marks.in_template(said) == []
    said = '<p title="Go on">Stop {% if it %}<b>it</b>{% endif %}</p>'
    assert marks.in_template(said) == ["title=Go on", "Stop", "it"]
    assert marks.in_template('{% empty_state "alert" "Nothing is here" %}{% endempty_state %}') == [
        "Nothing is here"
    ]
    assert marks.in_template("{{ name|default:'No name' }}") == ["'No name'"]
    said = 'toast("It is gone.")\ntoast(gettext("It is gone."))\ntoast(f"{name} is gone.")'
    assert marks.in_python(said) == ["'It is gone.'", "f'{name} is gone.'"]
    said = 'raise GoalRefused("It is gone.")\nraise GoalRefused(Sentence("It is %(how)s.", how=how))'
    assert marks.in_python(said, marks.PROBLEMS) == ["'It is gone.'"]
    assert marks.in_script('note("It is gone.");\nnote(gettext("It is gone."));') == ["It is gone."]


@pytest.mark.parametrize("name", FILES)
def test_it_is_marked(name: str) -> None:
    assert unmarked(name) == []


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_refused_or_wrong_is_marked(name: str) -> None:
    assert marks.in_python((ROOT / name).read_text(), marks.PROBLEMS) == []
