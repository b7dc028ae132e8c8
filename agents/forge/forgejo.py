"""Forgejo and Gitea, which share the REST interface that both call version 1."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import quote

from django.utils.translation import gettext

from agents.forge.hosts import Host
from agents.forge.hub import Hub, comment_of, item_of, status_of
from agents.forge.rest import PAGE
from agents.forge.shapes import Check, Comment, ForgeError, Item, Kind, Listing, Method, at, rows, text, whole

_MOST_REVIEWS = 30
"""Each has to be asked for its comments, one by one."""
_MOST_PAGES = 5


class Forgejo(Hub):
    api: ClassVar[str] = "/api/v1"
    drafts: ClassVar[str] = "WIP: "
    methods: ClassVar[tuple[tuple[str, Method], ...]] = (
        ("allow_merge_commits", "merge"),
        ("allow_squash_merge", "squash"),
        ("allow_rebase", "rebase"),
    )

    def headers(self, host: Host) -> dict[str, str]:
        return {"authorization": f"token {host.token}"}

    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        asked = {"type": "issues" if kind == "issue" else "pulls", "state": "closed" if closed else "open"}
        if words:
            asked["q"] = words
        answer = await self.rest.page(f"{self.repository}/issues", page, **asked)
        return Listing([item_of(row, kind) for row in rows(answer.data)[:PAGE]], answer.more)

    async def comments(self, item: Item) -> list[Comment]:
        plain = await self.rest.all(f"{self.repository}/issues/{item.number}/comments")
        found = [comment_of(row) for row in plain]
        if item.kind == "issue":
            return found
        reviews = (await self.rest.all(self.address(item, "/reviews")))[-_MOST_REVIEWS:]
        found += [one for one in map(comment_of, reviews) if one.body or one.verdict]
        asked = [
            self.rest.all(self.address(item, f"/reviews/{whole(row, 'id')}/comments"))
            for row in reviews
            if whole(row, "comments_count")
        ]
        for lines in await asyncio.gather(*asked):
            found += map(_line_comment, lines)
        return sorted(found, key=lambda one: one.time)

    async def pull_of(self, branch: str, source: str) -> Item | None:
        for state in ("open", "closed"):
            for page in range(1, _MOST_PAGES + 1):
                answer = await self.rest.page(
                    f"{self.repository}/pulls", page, state=state, sort="recentupdate"
                )
                for row in rows(answer.data):
                    if (text(row, "head", "ref"), text(row, "head", "repo", "full_name")) == (branch, source):
                        return await self.item("pull", whole(row, "number"))
                if not answer.more:
                    break
        return None

    async def checks(self, item: Item) -> list[Check]:
        commit = f"{self.repository}/commits/{quote(item.commit, safe='')}"
        return [status_of(row) for row in await self.rest.all(f"{commit}/status", "statuses")]

    async def log(self, check: Check) -> str:
        raise ForgeError(gettext("%(name)s gives no logs to programs.") % {"name": self.host.title})

    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        """There are no threads: the answer stands with all others."""
        await self.rest.send("POST", f"{self.repository}/issues/{item.number}/comments", {"body": text})

    async def merge(self, item: Item, method: Method) -> None:
        given = {"Do": method, "head_commit_id": item.commit}
        await self.rest.send("POST", self.address(item, "/merge"), given)


def _line_comment(data: Any) -> Comment:
    return replace(
        comment_of(data),
        path=text(data, "path"),
        line=whole(data, "position") or whole(data, "original_position"),
        code=text(data, "diff_hunk"),
        resolved=bool(at(data, "resolver")),
    )
