"""GitHub, at github.com or in a company: its REST interface, version 2022-11-28."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final
from urllib.parse import quote

from agents.forge.forge import LOG_END, Forge, numbered
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
    ("allow_merge_commit", "merge"),
    ("allow_squash_merge", "squash"),
    ("allow_rebase_merge", "rebase"),
)
_OUTCOMES: Final[dict[str, Outcome]] = {
    "success": "passed",
    "neutral": "skipped",
    "skipped": "skipped",
    "stale": "skipped",
    "pending": "running",
    "failure": "failed",
    "error": "failed",
    "cancelled": "failed",
    "timed_out": "failed",
    "action_required": "failed",
    "startup_failure": "failed",
}
_VERDICTS = {"APPROVED": "approved", "CHANGES_REQUESTED": "asks for changes", "DISMISSED": "dismissed"}


class GitHub(Forge):
    api: ClassVar[str] = "/api/v3"

    def __init__(self, host: Host, path: str) -> None:
        super().__init__(host, path)
        self._at = f"/repos/{path}"

    def interface(self, host: Host) -> str:
        """At github.com, and for companies at GitHub's own servers, it has a host of its own."""
        if host.hostname == "github.com" or host.hostname.endswith(".ghe.com"):
            return host.address.replace("://", "://api.", 1)
        return super().interface(host)

    def headers(self, host: Host) -> dict[str, str]:
        return {"authorization": f"Bearer {host.token}", "x-github-api-version": "2022-11-28"}

    async def who(self) -> str:
        return text(await self.rest.get("/user"), "login")

    async def settings(self) -> Settings:
        data = await self.rest.get(self._at)
        allowed = tuple(method for name, method in _METHODS if at(data, name) is not False)
        return Settings(text(data, "default_branch"), allowed)

    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        state = "closed" if closed else "open"
        if words:
            asked = f"repo:{self.path} is:{'issue' if kind == 'issue' else 'pr'} state:{state} {words}"
            answer = await self.rest.page("/search/issues", page, q=asked, sort="updated")
            return Listing([_item(row, kind) for row in rows(answer.data, "items")[:PAGE]], answer.more)
        name = "issues" if kind == "issue" else "pulls"
        answer = await self.rest.page(
            f"{self._at}/{name}", page, state=state, sort="updated", direction="desc"
        )
        # A pull request is an issue, too.
        found = [row for row in rows(answer.data)[:PAGE] if kind == "pull" or not at(row, "pull_request")]
        return Listing([_item(row, kind) for row in found], answer.more)

    async def item(self, kind: Kind, number: int) -> Item:
        name = "issues" if kind == "issue" else "pulls"
        data = await self.rest.get(f"{self._at}/{name}/{number}")
        if kind == "issue" and at(data, "pull_request"):
            raise ForgeError(f"{number} is a pull request.")
        return _item(data, kind)

    async def comments(self, item: Item) -> list[Comment]:
        asked = [self.rest.all(f"{self._at}/issues/{item.number}/comments")]
        if item.kind == "pull":
            asked += [self.rest.all(self._at + numbered(item, part)) for part in ("/reviews", "/comments")]
        plain, *rest = await asyncio.gather(*asked)
        found = [_comment(row) for row in plain]
        if rest:
            found += [one for one in map(_review, rest[0]) if one.body or one.verdict]
            found += [_line_comment(row) for row in rest[1]]
        return sorted(found, key=lambda one: one.time)

    async def pull_of(self, branch: str, source: str) -> Item | None:
        head = f"{source.partition('/')[0]}:{branch}"
        asked = {"state": "all", "sort": "created", "direction": "desc"}
        answer = await self.rest.page(f"{self._at}/pulls", 1, head=head, **asked)
        found = [_item(row, "pull") for row in rows(answer.data) if text(row, "head", "ref") == branch]
        chosen = next((one for one in found if one.is_open), found[0] if found else None)
        return await self.item("pull", chosen.number) if chosen else None

    async def checks(self, item: Item) -> list[Check]:
        commit = f"{self._at}/commits/{quote(item.commit, safe='')}"
        runs, statuses = await asyncio.gather(
            self.rest.all(f"{commit}/check-runs", "check_runs", filter="latest"),
            self.rest.all(f"{commit}/status", "statuses"),
        )
        return [*map(_run, runs), *map(_status, statuses)]

    async def log(self, check: Check) -> str:
        return await self.rest.tail(f"{self._at}/actions/jobs/{check.log}/logs", LOG_END)

    async def create(self, *, title: str, body: str, head: str, base: str, source: str, draft: bool) -> Item:
        named = head if source == self.path else f"{source.partition('/')[0]}:{head}"
        given = {"title": title, "body": body, "head": named, "base": base, "draft": draft}
        return _item(await self.rest.send("POST", f"{self._at}/pulls", given), "pull")

    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        part = f"/pulls/{item.number}/comments/{quote(thread, safe='')}/replies"
        where = part if thread else f"/issues/{item.number}/comments"
        await self.rest.send("POST", self._at + where, {"body": text})

    async def merge(self, item: Item, method: Method) -> None:
        given = {"merge_method": method, "sha": item.commit}
        await self.rest.send("PUT", self._at + numbered(item, "/merge"), given)


def _item(data: Any, kind: Kind) -> Item:
    state: State = "closed" if text(data, "state") == "closed" else "open"
    if text(data, "merged_at") or text(data, "pull_request", "merged_at"):
        state = "merged"
    elif state == "open" and at(data, "draft") is True:
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
        replies=whole(data, "comments") + whole(data, "review_comments"),
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
    first = whole(data, "in_reply_to_id") or whole(data, "id")
    return Comment(
        text(data, "user", "login"),
        moment(data, "created_at"),
        said(data, "body"),
        link(data, "html_url"),
        thread=str(first),
        path=text(data, "path"),
        line=whole(data, "line") or whole(data, "original_line"),
        code=text(data, "diff_hunk"),
    )


def _run(data: Any) -> Check:
    done = text(data, "status") == "completed"
    conclusion = text(data, "conclusion")
    return Check(
        text(data, "name"),
        _OUTCOMES.get(conclusion, "failed") if done else "running",
        text(data, "output", "title") or (conclusion if done else text(data, "status")).replace("_", " "),
        link(data, "html_url"),
        # A run of GitHub's own actions has the number of its job.
        str(whole(data, "id")) if text(data, "app", "slug") == "github-actions" else "",
    )


def _status(data: Any) -> Check:
    outcome = _OUTCOMES.get(text(data, "state"), "failed")
    return Check(text(data, "context"), outcome, text(data, "description"), link(data, "target_url"))
