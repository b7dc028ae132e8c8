"""Forgejo and Gitea, which share the REST interface that both call version 1."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final
from urllib.parse import quote

from agents.forge.forge import Forge, numbered
from agents.forge.hosts import Host
from agents.forge.rest import PAGE
from agents.forge.shapes import (
    Check,
    Comment,
    ForgeError,
    Item,
    Kind,
    Listing,
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

_METHODS: Final[tuple[tuple[str, Method], ...]] = (
    ("allow_merge_commits", "merge"),
    ("allow_squash_merge", "squash"),
    ("allow_rebase", "rebase"),
)
_OUTCOMES: Final[dict[str, Outcome]] = {
    "success": "passed",
    "pending": "running",
    "error": "failed",
    "failure": "failed",
    "warning": "skipped",
    "skipped": "skipped",
}
_VERDICTS = {"APPROVED": "approved", "REQUEST_CHANGES": "asks for changes"}
_MOST_REVIEWS = 30
"""Each has to be asked for its comments, one by one."""
_MOST_PAGES = 5


class Forgejo(Forge):
    api: ClassVar[str] = "/api/v1"
    drafts: ClassVar[str] = "WIP: "

    def __init__(self, host: Host, path: str) -> None:
        super().__init__(host, path)
        self._at = f"/repos/{path}"

    def headers(self, host: Host) -> dict[str, str]:
        return {"authorization": f"token {host.token}"}

    async def who(self) -> str:
        return text(await self.rest.get("/user"), "login")

    async def settings(self) -> Settings:
        data = await self.rest.get(self._at)
        allowed = tuple(method for name, method in _METHODS if at(data, name) is not False)
        return Settings(text(data, "default_branch"), allowed)

    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        asked = {"type": "issues" if kind == "issue" else "pulls", "state": "closed" if closed else "open"}
        if words:
            asked["q"] = words
        answer = await self.rest.page(f"{self._at}/issues", page, **asked)
        return Listing([_item(row, kind) for row in rows(answer.data)[:PAGE]], answer.more)

    async def item(self, kind: Kind, number: int) -> Item:
        name = "issues" if kind == "issue" else "pulls"
        data = await self.rest.get(f"{self._at}/{name}/{number}")
        if kind == "issue" and at(data, "pull_request"):
            raise ForgeError(f"{number} is a pull request.")
        return _item(data, kind)

    async def comments(self, item: Item) -> list[Comment]:
        plain = [_comment(row) for row in await self.rest.all(f"{self._at}/issues/{item.number}/comments")]
        if item.kind == "issue":
            return plain
        reviews = (await self.rest.all(self._at + numbered(item, "/reviews")))[-_MOST_REVIEWS:]
        found = [*plain, *(one for one in map(_review, reviews) if one.body or one.verdict)]
        asked = [
            self.rest.all(self._at + numbered(item, f"/reviews/{whole(row, 'id')}/comments"))
            for row in reviews
            if whole(row, "comments_count")
        ]
        for lines in await asyncio.gather(*asked):
            found += map(_line_comment, lines)
        return sorted(found, key=lambda one: one.time)

    async def pull_of(self, branch: str, source: str) -> Item | None:
        for state in ("open", "closed"):
            for page in range(1, _MOST_PAGES + 1):
                answer = await self.rest.page(f"{self._at}/pulls", page, state=state, sort="recentupdate")
                for row in rows(answer.data):
                    if (text(row, "head", "ref"), text(row, "head", "repo", "full_name")) == (branch, source):
                        return await self.item("pull", whole(row, "number"))
                if not answer.more:
                    break
        return None

    async def checks(self, item: Item) -> list[Check]:
        commit = quote(item.commit, safe="")
        return [_check(row) for row in await self.rest.all(f"{self._at}/commits/{commit}/status", "statuses")]

    async def log(self, check: Check) -> str:
        raise ForgeError(f"{self.host.title} gives no logs to programs.")

    async def create(self, *, title: str, body: str, head: str, base: str, source: str, draft: bool) -> Item:
        named = head if source == self.path else f"{source.partition('/')[0]}:{head}"
        titled = f"{self.drafts}{title}" if draft else title
        given = {"title": titled, "body": body, "head": named, "base": base}
        return _item(await self.rest.send("POST", f"{self._at}/pulls", given), "pull")

    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        """There are no threads: the answer stands with all others."""
        await self.rest.send("POST", f"{self._at}/issues/{item.number}/comments", {"body": text})

    async def merge(self, item: Item, method: Method) -> None:
        given = {"Do": method, "head_commit_id": item.commit}
        await self.rest.send("POST", self._at + numbered(item, "/merge"), given)


def _item(data: Any, kind: Kind) -> Item:
    state: State = "closed" if text(data, "state") == "closed" else "open"
    if at(data, "merged") is True or at(data, "pull_request", "merged") is True:
        state = "merged"
    elif state == "open" and (at(data, "draft") is True or at(data, "pull_request", "draft") is True):
        state = "draft"
    merges = at(data, "mergeable")
    return Item(
        kind=kind,
        number=whole(data, "number"),
        title=text(data, "title"),
        author=text(data, "user", "login"),
        state=state,
        url=link(data, "html_url"),
        time=moment(data, "updated_at"),
        labels=tuple(filter(None, (text(label, "name") for label in rows(data, "labels")))),
        body=said(data, "body"),
        replies=whole(data, "comments"),
        head=text(data, "head", "ref"),
        base=text(data, "base", "ref"),
        commit=text(data, "head", "sha"),
        merges=merges if isinstance(merges, bool) else None,
    )


def _comment(data: Any) -> Comment:
    return Comment(
        text(data, "user", "login"), moment(data, "created_at"), said(data, "body"), link(data, "html_url")
    )


def _review(data: Any) -> Comment:
    return Comment(
        text(data, "user", "login"),
        moment(data, "submitted_at"),
        said(data, "body"),
        link(data, "html_url"),
        verdict=_VERDICTS.get(text(data, "state"), ""),
    )


def _line_comment(data: Any) -> Comment:
    return Comment(
        text(data, "user", "login"),
        moment(data, "created_at"),
        said(data, "body"),
        link(data, "html_url"),
        path=text(data, "path"),
        line=whole(data, "position") or whole(data, "original_position"),
        code=text(data, "diff_hunk"),
        resolved=bool(at(data, "resolver")),
    )


def _check(data: Any) -> Check:
    outcome = _OUTCOMES.get(text(data, "status") or text(data, "state"), "failed")
    return Check(text(data, "context"), outcome, text(data, "description"), link(data, "target_url"))
