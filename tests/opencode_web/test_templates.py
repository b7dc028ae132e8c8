"""What holds for every template: lines to be read, addresses that lead somewhere and come from names
(docs/decisions/0030), and in scripts begin at the path of the server (0049)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template
from django.urls import resolve

TEMPLATES = Path(settings.BASE_DIR) / "templates"
NAMES = sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html"))

SCRIPTS = Path(settings.STATICFILES_DIRS[0]) / "js"

LONGEST_LINE = 120

_LITERAL = re.compile(r"""=["'](/[^"']*)["']""")
_IN_A_SCRIPT = re.compile(
    r"""Path=/|["'`]/(?:p|s|ws|api|event|help|import|log(?:in|out)|open-in|pickers|search|servers|settings|snippets)\b"""
)
_BELOW = re.compile(r"""\{\{ (?:place\.)?base \}\}(/[^"'?#]*)""")
_EXPRESSION = re.compile(r"\{\{.*?\}\}")
_CONDITION = re.compile(r"\{%.*")


def source(name: str) -> str:
    return (TEMPLATES / name).read_text()


def below_sessions() -> Iterator[str]:
    for name in NAMES:
        for path in _BELOW.findall(source(name)):
            yield _CONDITION.sub("", _EXPRESSION.sub("0", path))


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read(name: str) -> None:
    get_template(name)


@pytest.mark.parametrize("name", NAMES)
def test_addresses_come_from_names(name: str) -> None:
    assert _LITERAL.findall(source(name)) == []


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.js")), ids=lambda path: path.name)
def test_addresses_of_scripts_begin_at_the_servers_path(script: Path) -> None:
    code = [line for line in script.read_text().splitlines() if not line.startswith("//")]
    assert [line for line in code if _IN_A_SCRIPT.search(line)] == []


@pytest.mark.parametrize("path", sorted(set(below_sessions())))
def test_what_is_appended_to_a_sessions_address_leads_somewhere(path: str) -> None:
    assert resolve(f"/p/0/s/0{path}").url_name


@pytest.mark.parametrize("name", NAMES)
def test_lines_can_be_read(name: str) -> None:
    assert [line for line in source(name).splitlines() if len(line) > LONGEST_LINE] == []
