"""What a page offers to each role: nothing that would be refused, and all that would not."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from opencode_web.people import needs
from opencode_web.people.reach import DONE_BY, Reach, _is_about_all, _routes
from sessions.core.roles import Person, Role
from tests.opencode_web.people.conftest import Team

ROOT = Path(__file__).parents[3]
ROLES = [role for role in Role if role]
ELEMENTS = {"hx-post": "button", "hx-get": "button", "href": "a"}
CONDITION = re.compile(r'\[([\w-]+)([$^*]?=)"([^"]*)"\]')
_NOT = re.compile(r":not\(([^)]*)\)")
MATCHES: dict[str, Callable[[str, str], bool]] = {
    "=": str.__eq__,
    "^=": str.startswith,
    "$=": str.endswith,
    "*=": str.__contains__,
}


def _holds(condition: tuple[str, str, str], attribute: str, address: str) -> bool:
    name, sign, value = condition
    return name == attribute and MATCHES[sign](address, value)


def hides(sheet: str, attribute: str, address: str) -> bool:
    """Whether the sheet hides an element that has the address in that attribute, as a browser reads it."""
    for selector in sheet.removesuffix(" { display: none !important; }\n").split(",\n"):
        conditions = CONDITION.findall(_NOT.sub("", selector))
        excluded = [CONDITION.findall(one) for one in _NOT.findall(selector)]
        element = re.match(r"\w*", selector)
        assert element
        if not conditions or not all(_holds(one, attribute, address) for one in conditions):
            continue
        if not any(_holds(one, attribute, address) for many in excluded for one in many):
            return element[0] in ("", ELEMENTS[attribute])
    return False


def addresses(name: str) -> list[str]:
    return [
        re.sub(r"<[^>]+>", "ses_01", route) + query
        for route in _routes().get(name, ())
        for query in ("", "?x=1")
    ]


@pytest.mark.parametrize(("here", "everywhere"), list(product(ROLES, ROLES)))
def test_what_would_be_refused_is_hidden_and_nothing_else(here: Role, everywhere: Role) -> None:
    reach, wrong = Reach(here, everywhere), []
    sheet = reach.sheet()
    for method, attribute, names in (
        ("POST", "hx-post", needs.ACTING),
        ("GET", "href", needs.SHOWING),
    ):
        for name in names:
            need = needs.of_page(method, name)
            role = everywhere if _is_about_all(name, need) else here
            for address in addresses(name):
                if hides(sheet, attribute, address) != (role.rank < need.rank):
                    wrong.append((name, address))
    for name in needs.SHOWING:
        wrong += [(name, one) for one in addresses(name) if hides(sheet, "hx-get", one) == reach.may(name)]
    assert wrong == []


def test_who_administers_everything_is_shown_everything() -> None:
    assert Reach(Role.ADMINISTER, Role.ADMINISTER).sheet() == ""


def test_what_scripts_do_is_there() -> None:
    """What the table calls things is what the pages call them."""
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").glob("*.js")]
    files += (ROOT / "sessions/web").rglob("*.py")
    text = "\n".join(file.read_text() for file in files)
    assert DONE_BY.keys() <= needs.ACTING
    for selectors in DONE_BY.values():
        for mark in re.findall(r"\[([\w-]+)", selectors):
            assert mark in text, mark
        for name, value in re.findall(r'\[([\w-]+)\^?="?([^"\]]+)', selectors):
            assert re.search(rf'{name}="{re.escape(value)}|"{re.escape(value)}"', text), (name, value)
        for mark in re.findall(r"\.([a-z][\w-]*)", selectors):
            assert re.search(rf'class="[^"]*\b{mark}\b|"{mark}"', text), mark


def test_a_role_is_that_in_the_projects_of_the_page() -> None:
    person = Person("1", "Ada", Role.SEE, {"mine": Role.APPROVE})
    assert Reach.of(person, {"mine"}) == Reach(Role.APPROVE, Role.SEE)
    assert Reach.of(person, {"mine", "other"}) == Reach(Role.SEE, Role.SEE)
    assert Reach.of(person, set()) == Reach(Role.APPROVE, Role.SEE)


async def test_a_page_and_its_palette_have_what_a_role_may(team: Team) -> None:
    seen = {}
    for role in (Role.SEE, Role.ASK, Role.ADMINISTER):
        async with team.client(team.token(f"Reach of {role}", role)) as client:
            project = (await client.get("/project/current")).json()["id"]
            page = (await client.get(f"/p/{project}/s/")).text
            link = re.search(r'href="(/people/sheet/[^"]+)"', page)
            assert link
            sheet = await client.get(link[1].replace("&amp;", "&"))
            assert sheet.headers["content-type"].startswith("text/css")
            assert "immutable" in sheet.headers["cache-control"]
            listed = (await client.get(f"/pickers/palette?project={project}")).text
            commands = (await client.get(f"/p/{project}/complete/commands?q=")).text
            seen[role] = (sheet.text, set(re.findall(r'data-id="([^"]+)"', listed)), commands)
    hidden, entries, _ = seen[Role.SEE]
    assert '[hx-post^="/p/"][hx-post*="/s/"][hx-post$="/prompt"]' in hidden
    assert "run:changes" in entries
    assert not {"run:new", "run:undo", "go:Settings", "go:people"} & entries
    hidden, entries, commands = seen[Role.ASK]
    assert '"/prompt"' not in hidden
    assert "run:new" in entries
    assert "run:undo" not in entries
    assert "compact" in commands
    assert "review-mode" not in commands
    assert seen[Role.ADMINISTER][0] == ""
    assert {"run:undo", "go:Settings", "go:people"} <= seen[Role.ADMINISTER][1]
