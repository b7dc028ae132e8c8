"""Every state of the pages is free of what axe-core knows to bar people, and every address is among them."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import pytest
from playwright.async_api import Request

from tests import programs
from tests.e2e.access import (  # noqa: F401 - they fill STATES
    states,
    states_of_comparisons,
    states_of_forge,
    states_of_git,
    states_of_schedules,
    states_of_settings,
)
from tests.e2e.access.scan import violations
from tests.e2e.access.state import STATES, State
from tests.e2e.access.world import World
from tests.opencode_web.site.security.listed import BOTH, READS

pytestmark = pytest.mark.e2e

NO_PAGE = "a file, data, or a redirection"
WITHIN = "rows or lines of a kind that a state shows, which come later, for a choice, or for a hint"
BUSY = "shown only while another program works or answers"
REASONS = {
    NO_PAGE: (
        "/global/health", "/ready", "/metrics", "/p/{project}/", "/p/{project}/rules/export.json",
        "{base}/export.html",
        "{base}/export.json", "{base}/export.md",
        "/p/{project}/sessions/export.zip", "{base}/parts/{part}/files/0", "{base}/review/image/none",
        "{base}/timeline/review/image/none", "{base}/inbox/msg_x", "{base}/messages/{message}/prompt",
        "/p/{project}/prompts/earlier", "/p/{project}/forge/told",
        "{base}/messages/{answer}/text",
        "/snippets/options", "/pickers/mentions", "/pickers/symbols", "/pickers/resources",
        "/pickers/arguments", "/pickers/problems/count", "/sandbox/port/go", "/p/{project}/files/raw",
        "/diagrams", "/settings/looks/theme", "/settings/looks/file", "/usage.csv",
    ),
    WITHIN: (
        "/p/{project}/complete/commands", "/p/{project}/complete/files", "/p/{project}/rules/decisions",
        "/permissions/per_x/file", "/permissions/per_x/rest", "/pickers/commands",
        "/questions/que_x/card", "{base}/comments/{comment}", "{base}/messages",
        "{base}/review/file", "{base}/review/files", "{base}/review/lines", "{base}/review/undo",
        "{base}/timeline/moments", "{base}/timeline/review/file",
        "{waits}/staging/files", "{waits}/timeline", "/servers/mcp/list", "/p/{project}/git/list",
    ),
    BUSY: (
        "/p/{project}/compare/{comparison}/state",
        "/accounts/waiting", "/import/progress", "/search/progress", "/pickers/problems",
        "/pickers/problems/lines", "/servers/languages/log", "/servers/mcp/resource",
    ),
}  # fmt: skip
EXCUSED = {address: reason for reason, addresses in REASONS.items() for address in addresses}
"""Addresses that no state shows, with the reason."""


@pytest.fixture(scope="module")
def axe(user_environ: dict[str, str]) -> str:
    return programs.axe(user_environ)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
async def test_no_rule_is_broken(state: State, world: World, axe: str) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(unquote(urlsplit(request.url).path))

    world.context.on("request", note)
    page = await state.reach(world)
    found = await violations(page, axe, state.sizes)
    world.context.remove_listener("request", note)
    for each in {*world.context.pages, page}:
        await each.close()
    assert [address for address in state.addresses if not any(map(pattern(address).fullmatch, asked))] == []
    assert not found, "\n".join(found)


def test_every_address_is_in_a_state() -> None:
    listed = {path.partition("?")[0] for path in (*BOTH, *READS)}
    shown = {address for state in STATES for address in state.addresses}
    assert listed == shown | EXCUSED.keys()
    assert not shown & EXCUSED.keys()


def pattern(address: str) -> re.Pattern[str]:
    """What an address of the list looks like when it is asked for."""
    names = re.sub(r"\\{(base|waits)\\}", "/p/[^/]+/s/[^/]+", re.escape(address))
    return re.compile(re.sub(r"\\{\w+\\}|\b(?:que|per|msg)_x\b|\bnone\b", "[^/]+", names))
