"""What GitHub, Forgejo and Gitea share: addresses below `/repos`, and the shapes of what is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.forge.forge import Forge
from agents.forge.hosts import Host
from agents.forge.shapes import (
    Check,
    Comment,
    ForgeError,
    Item,
    Kind,
    Method,
    Outcome,
    Settings,
    State,
    at,
    link,
    moment,
    rows,
    said,
    text,
    whole,
)

OUTCOMES: Final[Mapping[str, Outcome]] = {
    "success": "passed",
    "neutral": "skipped",
    "skipped": "skipped",
    "stale": "skipped",
    "warning": "skipped",
    "pending": "running",
    "failure": "failed",
    "error": "failed",
    "cancelled": "failed",
    "timed_out": "failed",
    "action_required": "failed",
    "startup_failure": "failed",
}
_VERDICTS = {
    "APPROVED": gettext_noop("approved"),
    "CHANGES_REQUESTED": gettext_noop("asks for changes"),
    "REQUEST_CHANGES": gettext_noop("asks for changes"),
    "DISMISSED": gettext_noop("dismissed"),
}
_ITSELF: Final[tuple[tuple[str, ...], ...]] = ((), ("pull_request",))
"""Where an answer has what is of a pull request: in itself, or as an issue in a part of its own."""


class Hub(Forge):
    methods: ClassVar[tuple[tuple[str, Method], ...]]
    """How a pull request may be merged, by the name of the setting that allows it."""

    def __init__(self, host: Host, path: str) -> None:
        super().__init__(host, path)
        self.repository = f"/repos/{path}"

    def address(self, item: Item, part: str = "") -> str:
        """Below an item."""
        return f"{self.repository}/{_LISTS[item.kind]}/{item.number}{part}"

    async def who(self) -> str:
        return text(await self.rest.get("/user"), "login")

    async def settings(self) -> Settings:
        data = await self.rest.get(self.repository)
        allowed = tuple(method for name, method in self.methods if at(data, name) is not False)
        return Settings(text(data, "default_branch"), allowed)

    async def item(self, kind: Kind, number: int) -> Item:
        data = await self.rest.get(f"{self.repository}/{_LISTS[kind]}/{number}")
        if kind == "issue" and at(data, "pull_request"):
            raise ForgeError(gettext("%(number)s is a pull request.") % {"number": number})
        return item_of(data, kind)

    async def create(self, *, title: str, body: str, head: str, base: str, source: str, draft: bool) -> Item:
        named = head if source == self.path else f"{source.partition('/')[0]}:{head}"
        given: dict[str, Any] = {
            "title": self.titled(title, draft=draft),
            "body": body,
            "head": named,
            "base": base,
        }
        if not self.drafts:
            given["draft"] = draft
        return item_of(await self.rest.send("POST", f"{self.repository}/pulls", given), "pull")


_LISTS: Final[Mapping[Kind, str]] = {"issue": "issues", "pull": "pulls"}


def item_of(data: Any, kind: Kind) -> Item:
    merges = at(data, "mergeable")
    return Item(
        kind=kind,
        number=whole(data, "number"),
        title=text(data, "title"),
        author=text(data, "user", "login"),
        state=_state(data),
        url=link(data, "html_url"),
        time=moment(data, "updated_at"),
        labels=tuple(filter(None, (text(label, "name") for label in rows(data, "labels")))),
        body=said(data, "body"),
        replies=whole(data, "comments") + whole(data, "review_comments"),
        head=text(data, "head", "ref"),
        base=text(data, "base", "ref"),
        commit=text(data, "head", "sha"),
        merges=merges if isinstance(merges, bool) else None,
    )


def _state(data: Any) -> State:
    if any(at(data, *part, "merged") is True or text(data, *part, "merged_at") for part in _ITSELF):
        return "merged"
    if text(data, "state") == "closed":
        return "closed"
    return "draft" if any(at(data, *part, "draft") is True for part in _ITSELF) else "open"


def comment_of(data: Any) -> Comment:
    """What each has, also those of a review."""
    return Comment(
        text(data, "user", "login"),
        moment(data, "created_at") or moment(data, "submitted_at"),
        said(data, "body"),
        link(data, "html_url"),
        verdict=_VERDICTS.get(text(data, "state"), ""),
    )


def status_of(data: Any) -> Check:
    outcome = OUTCOMES.get(text(data, "status") or text(data, "state"), "failed")
    return Check(text(data, "context"), outcome, text(data, "description"), link(data, "target_url"))
