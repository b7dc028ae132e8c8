"""Which repository at which forge a request is about, and views that say what a forge or git refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast, get_args

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext

from agents.agent.git_programs import git_of
from agents.forge import prompt
from agents.forge.forge import Forge
from agents.forge.opening import forge_at
from agents.forge.remote import Branch, Hosted, branch_of, hosted
from agents.forge.shapes import Check, Comment, ForgeError, Item, Kind
from agents.web.git.place import Place, place_of
from sessions.changes.git.command import GitError
from sessions.changes.operations.lock import Refused
from sessions.changes.review.marking import digest
from sessions.changes.worktrees.making import CannotFork
from sessions.web.respond import beside

Act = Callable[[HttpRequest, Place], Awaitable[HttpResponse]]
View = Callable[[HttpRequest, str], Coroutine[Any, Any, HttpResponse]]


def by_forge(act: Act) -> View:
    """What the forge or git refuses is said in the panel."""

    @wraps(act)
    async def view(request: HttpRequest, project_id: str) -> HttpResponse:
        try:
            return await act(request, await place_of(request, project_id))
        except (ForgeError, GitError, CannotFork, Refused) as problem:
            return beside("forge", str(problem))

    return view


async def hosted_of(place: Place) -> Hosted:
    """Raises ForgeError and GitError."""
    return await asyncio.to_thread(lambda: hosted(git_of(place.directory)))


async def branch_at(place: Place, where: Hosted) -> Branch:
    """Raises ForgeError and GitError."""
    return await asyncio.to_thread(lambda: branch_of(git_of(place.directory), where))


def opened(where: Hosted) -> Forge:
    """To be entered. Raises ForgeError."""
    return forge_at(where.host, where.path)


@dataclass(frozen=True, slots=True)
class Whole:
    """An item with all that belongs to it, and as a `text` for a prompt. `unchecked` is why its checks are
    not known, where they are not."""

    item: Item
    comments: list[Comment]
    checks: list[Check]
    unchecked: str
    text: str

    @property
    def seen(self) -> str:
        """Another one once anything of it was changed."""
        return digest(self.text)

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.outcome == "failed"]

    @property
    def reviewed(self) -> bool:
        """Whether a review said something that nobody called settled."""
        return any(one.reviews and not one.resolved for one in self.comments)


async def whole(forge: Forge, item: Item) -> Whole:
    """Raises ForgeError."""
    comments, (checks, unchecked) = await asyncio.gather(forge.comments(item), _checks(forge, item))
    return Whole(item, comments, checks, unchecked, prompt.about(item, comments, forge.path))


async def _checks(forge: Forge, item: Item) -> tuple[list[Check], str]:
    """A token that may read a pull request may not be one that may read its checks."""
    if item.kind == "issue":
        return [], ""
    try:
        return await forge.checks(item), ""
    except ForgeError as problem:
        return [], str(problem)


def item_of(fields: QueryDict) -> tuple[Kind, int]:
    """`kind` and `number`. Raises Http404 for what no page asks."""
    kind, number = fields.get("kind", "pull"), fields.get("number", "")
    if kind not in get_args(Kind) or not number.isdecimal() or not 0 < len(number) < 10:
        raise Http404(gettext("There is no such thing at a forge."))
    return cast(Kind, kind), int(number)
