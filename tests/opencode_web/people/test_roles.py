"""What each role may: every page, operation and socket, asked for by a person of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from websockets.exceptions import InvalidStatus

from opencode_web.people import needs
from opencode_web.site.document import document
from opencode_web.site.middleware import _PAGES, API_ROOTS
from sessions.core.roles import Person, Role, allowed
from tests.opencode_web.people.conftest import Team
from tests.opencode_web.site.security import listed

ROOT = Path(__file__).parents[3]
SERVER_ROLES = [role for role in Role if role]
GUARDS = {"/login", "/logout", "/auth/launch"}
SOCKETS = (
    "/ws/inbox/",
    "/ws/overview/",
    "/ws/p/none/",
    "/ws/p/none/files/",
    "/pty/none/connect",
    "/api/pty/none/connect",
)
LONG = ("/event", "/global/event", "/api/event")
"""Streams do not end."""


def paths(forms: tuple[str, ...]) -> Iterator[str]:
    """With ids of nothing, so that what is let through does nothing."""
    filled = dict.fromkeys(listed.NAMES, "0") | {"base": "/p/none/s/none", "waits": "/p/none/s/none"}
    return (form.format(**filled).replace("<", "%3C").replace(">", "%3E") for form in forms)


def need_of(method: str, path: str) -> Role | None:
    """As the table has it; None for what is no page."""
    place = path.partition("?")[0]
    root = place.split("/")[1]
    if root == "api":
        route = resolve(place, "opencode_web.site.api_v2_urls").route
        return needs.of_operation(needs.operation(method, route))
    if root in API_ROOTS and place not in _PAGES:
        route = resolve(place, "opencode_web.site.api_urls").route
        return needs.of_operation(needs.operation(method, route))
    if place.startswith("/nothing/"):
        return None
    name = resolve(place, "opencode_web.urls").url_name
    return None if name in needs.PUBLIC else needs.of_page(method, name or "")


def requests() -> list[tuple[str, str, Role]]:
    asked = [
        *(("POST", path) for path in paths((*listed.CHANGES, *listed.BOTH))),
        *(("GET", path) for path in paths((*listed.READS, *listed.BOTH, *listed.API))),
    ]
    return [(*each, need) for each in asked if (need := need_of(*each)) is not None]


def pages(urls: URLResolver) -> Iterator[URLPattern]:
    for pattern in urls.url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        else:
            yield from pages(pattern)


def test_every_page_is_in_the_table() -> None:
    own = (ROOT / "opencode_web/people/urls.py").read_text()
    own_names = {
        name for path, name in re.findall(r'"\^?(\w+)[^"]*"[^"]*?name="([^"]+)"', own) if path != "login"
    }
    known = {name for table in (needs.SHOWN, needs.DONE) for text in table.values() for name in text.split()}
    listed = {str(page.name) for page in pages(get_resolver("opencode_web.urls"))}
    assert {*listed, *own_names} - known - needs.PUBLIC == set()


def test_no_two_pages_have_one_name() -> None:
    """What one takes would count for the other. A page may be at two addresses."""
    found: dict[str, set[object]] = {}
    for page in pages(get_resolver("opencode_web.urls")):
        found.setdefault(str(page.name), set()).add(page.callback)
    assert [name for name, views in found.items() if len(views) > 1] == []


def test_every_operation_is_in_the_table() -> None:
    said = {line.strip() for lines in needs.OPERATIONS.values() for line in lines.strip().splitlines()}
    elsewhere = {"GET global/health", "GET pty/*/connect", "GET api/pty/*/connect"}
    there = {
        f"{method.upper()} {re.sub(r'{[^}]+}', '*', path.lstrip('/'))}"
        for path, methods in document()["paths"].items()
        for method in methods
    }
    assert there - elsewhere == said


def test_what_is_not_in_the_table_is_for_who_administers() -> None:
    assert needs.of_page("GET", "new") is needs.of_page("POST", "home") is Role.ADMINISTER
    assert needs.of_operation("POST new/*") is needs.of_socket("/ws/new/") is Role.ADMINISTER


def test_a_role_in_a_project_takes_the_place_of_ones_own() -> None:
    person = Person("1", "Ada", Role.SEE, {"mine": Role.APPROVE, "theirs": Role.NOTHING})
    assert allowed(person, Role.APPROVE, "mine")
    assert allowed(person, Role.SEE, "other")
    assert not allowed(person, Role.ASK, "other")
    assert not allowed(person, Role.SEE, "theirs")
    assert not allowed(person, Role.SEE)  # what is about all projects is about theirs


@pytest.fixture(scope="module")
def tokens(team: Team) -> dict[Role, str]:
    """Of a person of each role."""
    return {role: team.token(f"Of {role}", role.value) for role in SERVER_ROLES}


@pytest.mark.parametrize("role", SERVER_ROLES)
async def test_each_page_and_operation(team: Team, tokens: dict[Role, str], role: Role) -> None:
    wrong = []
    async with team.client(tokens[role]) as client:
        for method, path, need in requests():
            if need is Role.ADMINISTER and role is Role.ADMINISTER and method == "POST":
                continue  # it would be done
            answer = await client.request(method, path)
            refused = answer.status_code == 403 and "takes the role" in answer.text
            if refused != (need.rank > role.rank):
                wrong.append((method, path, need.value, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize("role", SERVER_ROLES)
@pytest.mark.parametrize("path", SOCKETS)
async def test_each_socket(team: Team, tokens: dict[Role, str], role: Role, path: str) -> None:
    bearer = {"Authorization": f"Bearer {tokens[role]}"}
    opening = websockets.connect(team.server.url.replace("http", "ws") + path, additional_headers=bearer)
    if needs.of_socket(path).rank <= role.rank:
        async with opening:
            return
    with pytest.raises(InvalidStatus, match="403"):
        await opening
