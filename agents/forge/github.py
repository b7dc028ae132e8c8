"""GitHub, at github.com or in a company: its REST interface, version 2022-11-28."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote

from agents.forge.forge import LOG_END, newest
from agents.forge.hosts import Host
from agents.forge.hub import OUTCOMES, Hub, comment_of, item_of, status_of
from agents.forge.rest import PAGE
from agents.forge.shapes import Check, Comment, Item, Kind, Listing, Method, at, link, rows, text, whole


class GitHub(Hub):
    api: ClassVar[str] = "/api/v3"
    methods: ClassVar[tuple[tuple[str, Method], ...]] = (
        ("allow_merge_commit", "merge"),
        ("allow_squash_merge", "squash"),
        ("allow_rebase_merge", "rebase"),
    )

    def interface(self, host: Host) -> str:
        """At github.com, and for companies at GitHub's own servers, it has a host of its own."""
        if host.hostname == "github.com" or host.hostname.endswith(".ghe.com"):
            return host.address.replace("://", "://api.", 1)
        return super().interface(host)

    def headers(self, host: Host) -> dict[str, str]:
        return {"authorization": f"Bearer {host.token}", "x-github-api-version": "2022-11-28"}

    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        state = "closed" if closed else "open"
        if words:
            asked = f"repo:{self.path} is:{'issue' if kind == 'issue' else 'pr'} state:{state} {words}"
            answer = await self.rest.page("/search/issues", page, q=asked, sort="updated")
            return Listing([item_of(row, kind) for row in rows(answer.data, "items")[:PAGE]], answer.more)
        name = "issues" if kind == "issue" else "pulls"
        answer = await self.rest.page(
            f"{self.repository}/{name}", page, state=state, sort="updated", direction="desc"
        )
        # A pull request is an issue, too.
        found = [row for row in rows(answer.data)[:PAGE] if kind == "pull" or not at(row, "pull_request")]
        return Listing([item_of(row, kind) for row in found], answer.more)

    async def comments(self, item: Item) -> list[Comment]:
        asked = [self.rest.all(f"{self.repository}/issues/{item.number}/comments")]
        if item.kind == "pull":
            asked += [self.rest.all(self.address(item, part)) for part in ("/reviews", "/comments")]
        plain, *rest = await asyncio.gather(*asked)
        found = [comment_of(row) for row in plain]
        if rest:
            found += [one for one in map(comment_of, rest[0]) if one.body or one.verdict]
            found += [_line_comment(row) for row in rest[1]]
        return sorted(found, key=lambda one: one.time)

    async def pull_of(self, branch: str, source: str) -> Item | None:
        head = f"{source.partition('/')[0]}:{branch}"
        asked = {"state": "all", "sort": "created", "direction": "desc"}
        answer = await self.rest.page(f"{self.repository}/pulls", 1, head=head, **asked)
        chosen = newest(
            item_of(row, "pull") for row in rows(answer.data) if text(row, "head", "ref") == branch
        )
        return await self.item("pull", chosen.number) if chosen else None

    async def checks(self, item: Item) -> list[Check]:
        commit = f"{self.repository}/commits/{quote(item.commit, safe='')}"
        runs, statuses = await asyncio.gather(
            self.rest.all(f"{commit}/check-runs", "check_runs", filter="latest"),
            self.rest.all(f"{commit}/status", "statuses"),
        )
        return [*map(_run, runs), *map(status_of, statuses)]

    async def log(self, check: Check) -> str:
        return await self.rest.tail(f"{self.repository}/actions/jobs/{check.log}/logs", LOG_END)

    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        part = f"/pulls/{item.number}/comments/{quote(thread, safe='')}/replies"
        where = part if thread else f"/issues/{item.number}/comments"
        await self.rest.send("POST", self.repository + where, {"body": text})

    async def merge(self, item: Item, method: Method) -> None:
        given = {"merge_method": method, "sha": item.commit}
        await self.rest.send("PUT", self.address(item, "/merge"), given)


def _line_comment(data: Any) -> Comment:
    return replace(
        comment_of(data),
        thread=str(whole(data, "in_reply_to_id") or whole(data, "id")),
        path=text(data, "path"),
        line=whole(data, "line") or whole(data, "original_line"),
        code=text(data, "diff_hunk"),
    )


def _run(data: Any) -> Check:
    done = text(data, "status") == "completed"
    conclusion = text(data, "conclusion")
    return Check(
        text(data, "name"),
        OUTCOMES.get(conclusion, "failed") if done else "running",
        text(data, "output", "title") or (conclusion if done else text(data, "status")).replace("_", " "),
        link(data, "html_url"),
        # A run of GitHub's own actions has the number of its job.
        str(whole(data, "id")) if text(data, "app", "slug") == "github-actions" else "",
    )
