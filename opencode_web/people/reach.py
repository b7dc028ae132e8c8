"""What a page offers to who may not do all of it: a style sheet that hides what would be refused.

It is made of the table of needs and of the addresses of the pages, so that no template asks for a role: what
htmx sends to an address goes with it, a link, and what a script sends (`DONE_BY`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from opencode_web.people import needs
from sessions.core.roles import Person, Role

DONE_BY = {
    "abort": "[data-other-model]",
    "add-comment": "[data-comment], [data-opened-comment]",
    "add-folder": '[data-session-do="folders"]',
    "add-pin": '[data-pin], [data-files-do="pin"]',
    "archive-sessions": '.session-box, [data-session-do="select"]',
    "edit-prompt": "[data-edit-waiting]",
    "files-copy": '[data-files-do="copy"]',
    "files-make": '[data-files-do^="make"]',
    "files-move": '[data-files-do="rename"]',
    "files-remove": '[data-files-do="remove"]',
    "files-replace": "[data-find-all], [data-find-replace], label:has(> [name=replaces])",
    "files-save": "[data-opened-save], [data-opened-ending]",
    "files-upload": '[data-files-do="upload"]',
    "git-branch": '[data-git-form="branch"], [data-git-rename], [data-git-switch],'
    ' [data-git-ask^="branches"]',
    "git-discard": '[data-git="discard"]',
    "git-merged": '[data-git-form="merged"], [data-git-ask^="merge"]',
    "git-ongoing": '[data-git-form="ongoing"], [data-git-ongoing], [data-git-abort], [data-git-begin]',
    "git-remote": '[data-git-remote], [data-git-ask^="tags"]',
    "git-resolve": '[data-git-form="resolve"]',
    "git-stage": '[data-git="stage"]',
    "git-stash": '[data-git-form="stash"], [data-git-stash]',
    "git-stop": "[data-git-stop]",
    "git-submodule": '[data-git-form="submodule"]',
    "git-tag": '[data-git-form="tag"], [data-git-untag]',
    "git-unstage": '[data-git="unstage"]',
    "git-worktree": '[data-git-form="worktree"], [data-git-ask^="worktrees"]',
    "new-session": "[data-new], .starter",
    "open-in": '[data-session-do="open-in"], [data-opened-in], [data-files-do="open-in"]',
    "place-sessions": '[data-session-do="up"], [data-session-do="down"]',
    "prompt": '[data-opened-mention], [data-files-do="mention"], [data-find-mention], [data-put-back],'
    ' .skip[href="#prompt"]',
    "prompt-again": "[data-take-back]",
    "rename-session": '[data-session-do="rename"]',
    "reply-permission": '.answers > .more, .inbox-quick > [data-key="x"]',
    "reply-question": ".question-foot",
    "review-keep": '[data-do="keep"], [data-do="unkeep"], [data-why]',
    "review-redo": '[data-do="redo"]',
    "review-undo": '[data-do="undo"], [data-scope-undo]',
    "shell": "[data-toggle-terminal]",
    "staging-drop": '[data-do="stage-drop"]',
    "staging-keep": '[data-do="stage-keep"]',
}
"""By the name of a page, what in other pages leads to it by a script."""
_ALSO_READ = "form.question"
"""A form that is shown to who may not answer it."""
_OF_NO_PROJECT = frozenset({"save-snippet", "remove-snippet", "restore-snippet"})
"""Pages that no project is named for, beside those for who administers."""
_VARYING = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True)
class Reach:
    """The roles of who looks at a page: in the projects that it is about, and in all there are."""

    here: Role
    everywhere: Role

    @classmethod
    def of(cls, person: Person, projects: set[str | None]) -> Reach:
        """`projects` as `places` finds them; of a page about none, what they may in any."""
        own = (person.role, *person.roles.values())
        there = [person.roles.get(project, person.role) for project in projects if project is not None]
        return cls(_least(*there) if there else max(own, key=lambda role: role.rank), _least(*own))

    def may(self, name: str) -> bool:
        """Whether all is for them that the page with this name of a URL shows and does."""
        return self._has(name, needs.of_all(name))

    def sheet(self) -> str:
        """The style sheet of what is not for them."""
        hidden = [one for name in sorted(needs.SHOWING | needs.ACTING) for one in self._hidden(name)]
        return ",\n".join(hidden) + " { display: none !important; }\n" if hidden else ""

    def address(self) -> str:
        """Of the sheet; another one when it is another sheet."""
        roles = {"here": self.here or NOTHING, "everywhere": self.everywhere or NOTHING}
        return f"{reverse('role-sheet', kwargs=roles)}?v={_version(self)}"

    def _hidden(self, name: str) -> Iterator[str]:
        if name in needs.ACTING and not self._has(name, needs.of_page("POST", name)):
            yield from (f"{sends}:not({_ALSO_READ})" for sends in _leading_to(name, "", "hx-post"))
            yield from filter(None, [DONE_BY.get(name)])
        if name in needs.SHOWING and not self._has(name, needs.of_page("GET", name)):
            yield from _leading_to(name, "a", "href")
        if not self.may(name):
            yield from _leading_to(name, "button", "hx-get")

    def _has(self, name: str, need: Role) -> bool:
        return (self.everywhere if _is_about_all(name, need) else self.here).rank >= need.rank


NOTHING = "nothing"
"""In an address, the role that is none."""


def of_address(here: str, everywhere: str) -> Reach:
    """Raises ValueError for what is no role."""
    return Reach(*(Role("" if role == NOTHING else role) for role in (here, everywhere)))


def _least(*roles: Role) -> Role:
    return min(roles, key=lambda role: role.rank)


@cache
def _version(reach: Reach) -> str:
    return sha256(reach.sheet().encode()).hexdigest()[:12]


def _is_about_all(name: str, need: Role) -> bool:
    """Whether it takes the role in every project (`places.of_page`)."""
    named = any("project_id" in route or "session_id" in route for route in _routes().get(name, ()))
    return name in needs.EVERYWHERE or name in _OF_NO_PROJECT or (need is Role.ADMINISTER and not named)


def _leading_to(name: str, element: str, attribute: str) -> Iterator[str]:
    """Selectors of the elements with an address of that page, with a query or without."""
    for route in _routes().get(name, ()):
        first, *others = _VARYING.split(route)
        signs: tuple[tuple[str, ...], ...]
        if not others:
            signs = ((f'="{first}"',), (f'^="{first}?"',), (f'^="{first}#"',))
        else:
            before = (f'^="{first}"', *(f'*="{piece}"' for piece in others[:-1]))
            last = others[-1]
            signs = ((*before, f'$="{last}"'), (*before, f'*="{last}?"')) if last else (before,)
        but = "".join(f":not([{attribute}{sign}])" for sign in _longer(route)) if others else ""
        for each in signs:
            yield element + "".join(f"[{attribute}{sign}]" for sign in each) + but


@cache
def _longer(route: str) -> list[str]:
    """Conditions of addresses of other pages, which begin and end as those of this route do."""
    own = _VARYING.split(route)
    found: dict[str, None] = {}
    for other in {one for routes in _routes().values() for one in routes} - {route}:
        address = _VARYING.sub("-", other)
        alike = address.startswith(own[0]) and address.endswith(own[-1])
        if alike and all(piece in address for piece in own[1:-1]):
            *middle, last = _VARYING.split(other)
            found.update((f'*="{piece}"', None) for piece in middle[1:] if piece not in own)
            if last not in own:
                found |= {f'$="{last}"': None, f'*="{last}?"': None}
    return sorted(found)


@cache
def _routes() -> Mapping[str, list[str]]:
    """The forms of the addresses of pages, by name."""
    found: dict[str, list[str]] = {}
    for name, route in _named(get_resolver(), "/"):
        found.setdefault(name, []).append(route)
    return found


def _named(urls: URLResolver, before: str) -> Iterator[tuple[str, str]]:
    for pattern in urls.url_patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLPattern):
            yield str(pattern.name), route
        else:
            yield from _named(pattern, route)
