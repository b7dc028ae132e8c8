"""GitLab, at gitlab.com or anywhere: its REST interface, version 4."""

from __future__ import annotations

from typing import Any, ClassVar, Final
from urllib.parse import quote

from agents.forge.forge import LOG_END, Forge, newest
from agents.forge.hosts import Host
from agents.forge.rest import PAGE
from agents.forge.shapes import (
    Check,
    Comment,
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

_OUTCOMES: Final[dict[str, Outcome]] = {
    "success": "passed",
    "failed": "failed",
    "canceled": "failed",
    "skipped": "skipped",
    "manual": "skipped",
}
_STATES: Final[dict[str, State]] = {"opened": "open", "locked": "open", "merged": "merged"}


class GitLab(Forge):
    api: ClassVar[str] = "/api/v4"
    drafts: ClassVar[str] = "Draft: "

    def __init__(self, host: Host, path: str) -> None:
        super().__init__(host, path)
        self._at = _project(path)

    def headers(self, host: Host) -> dict[str, str]:
        return {"authorization": f"Bearer {host.token}"}

    async def who(self) -> str:
        return text(await self.rest.get("/user"), "username")

    async def settings(self) -> Settings:
        data = await self.rest.get(self._at)
        squash = text(data, "squash_option")
        plain: Method = "merge"
        methods: tuple[Method, ...] = ("squash",) if squash == "always" else (plain, "squash")
        return Settings(text(data, "default_branch"), (plain,) if squash == "never" else methods)

    async def items(self, kind: Kind, *, words: str = "", closed: bool = False, page: int = 1) -> Listing:
        asked = {"order_by": "updated_at", "sort": "desc", **({"search": words} if words else {})}
        states = ("closed", "merged") if closed and kind == "pull" else ("closed",) if closed else ("opened",)
        found: list[Item] = []
        more = False
        for state in states:
            answer = await self.rest.page(f"{self._at}/{_LISTS[kind]}", page, state=state, **asked)
            found += [_item(row, kind) for row in rows(answer.data)[:PAGE]]
            more = more or answer.more
        return Listing(sorted(found, key=lambda item: -item.time), more)

    async def item(self, kind: Kind, number: int) -> Item:
        return _item(await self.rest.get(f"{self._at}/{_LISTS[kind]}/{number}"), kind)

    async def comments(self, item: Item) -> list[Comment]:
        threads = await self.rest.all(self._below(item, "/discussions"))
        found = [
            _comment(note, text(thread, "id"), item.url)
            for thread in threads
            for note in rows(thread, "notes")
            if at(note, "system") is not True
        ]
        return sorted(found, key=lambda one: one.time)

    async def pull_of(self, branch: str, source: str) -> Item | None:
        asked = {"source_branch": branch, "state": "all", "order_by": "created_at", "sort": "desc"}
        answer = await self.rest.page(f"{self._at}/merge_requests", 1, **asked)
        own = [row for row in rows(answer.data) if _is_own(row) == (source == self.path)]
        chosen = newest(_item(row, "pull") for row in own)
        return await self.item("pull", chosen.number) if chosen else None

    async def checks(self, item: Item) -> list[Check]:
        if not item.pipeline:
            return []
        return [_job(row, item.pipeline) for row in await self.rest.all(f"{item.pipeline}/jobs")]

    async def log(self, check: Check) -> str:
        return await self.rest.tail(check.log, LOG_END)

    async def create(self, *, title: str, body: str, head: str, base: str, source: str, draft: bool) -> Item:
        given: dict[str, Any] = {
            "title": self.titled(title, draft=draft),
            "description": body,
            "source_branch": head,
            "target_branch": base,
        }
        if source != self.path:
            given["target_project_id"] = whole(await self.rest.get(self._at), "id")
        return _item(await self.rest.send("POST", f"{_project(source)}/merge_requests", given), "pull")

    async def answer(self, item: Item, text: str, thread: str = "") -> None:
        part = f"/discussions/{quote(thread, safe='')}/notes" if thread else "/notes"
        await self.rest.send("POST", self._below(item, part), {"body": text})

    async def merge(self, item: Item, method: Method) -> None:
        given = {"sha": item.commit, "squash": method == "squash"}
        await self.rest.send("PUT", self._below(item, "/merge"), given)

    def _below(self, item: Item, part: str) -> str:
        return f"{self._at}/{_LISTS[item.kind]}/{item.number}{part}"


_LISTS: Final[dict[Kind, str]] = {"issue": "issues", "pull": "merge_requests"}


def _project(path: str) -> str:
    return f"/projects/{quote(path, safe='')}"


def _is_own(data: Any) -> bool:
    return whole(data, "source_project_id") == whole(data, "target_project_id")


def _item(data: Any, kind: Kind) -> Item:
    state: State = _STATES.get(text(data, "state"), "closed")
    if state == "open" and at(data, "draft") is True:
        state = "draft"
    known = text(data, "merge_status")
    pipeline, project = whole(data, "head_pipeline", "id"), whole(data, "head_pipeline", "project_id")
    return Item(
        kind=kind,
        number=whole(data, "iid"),
        title=text(data, "title"),
        author=text(data, "author", "username"),
        state=state,
        url=link(data, "web_url"),
        time=moment(data, "updated_at"),
        labels=tuple(label for label in rows(data, "labels") if isinstance(label, str)),
        body=said(data, "description"),
        replies=whole(data, "user_notes_count"),
        head=text(data, "source_branch"),
        base=text(data, "target_branch"),
        commit=text(data, "sha"),
        merges={"can_be_merged": True, "cannot_be_merged": False}.get(known),
        pipeline=f"/projects/{project}/pipelines/{pipeline}" if pipeline else "",
    )


def _comment(data: Any, thread: str, url: str) -> Comment:
    place = at(data, "position")
    return Comment(
        text(data, "author", "username"),
        moment(data, "created_at"),
        said(data, "body"),
        f"{url}#note_{whole(data, 'id')}" if url else "",
        thread=thread if at(data, "resolvable") is True or place else "",
        path=text(place, "new_path") or text(place, "old_path"),
        line=whole(place, "new_line") or whole(place, "old_line"),
        resolved=at(data, "resolved") is True,
    )


def _job(data: Any, pipeline: str) -> Check:
    status = text(data, "status")
    outcome = _OUTCOMES.get(status, "running")
    if outcome == "failed" and at(data, "allow_failure") is True:
        outcome = "skipped"
    project = pipeline.partition("/pipelines/")[0]
    words = f"{text(data, 'stage')}: {status}".removeprefix(": ").replace("_", " ")
    log = f"{project}/jobs/{whole(data, 'id')}/trace"
    return Check(text(data, "name"), outcome, words, link(data, "web_url"), log)
