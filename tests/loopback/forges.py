"""Forges on loopback: GitHub, GitLab and Forgejo, as their public documents have what is asked here.

    async with ForgeServer("github") as forge:
        forge.issues[7] = Issue(7, "A title")

All have the one repository `acme/widget`, and the token `TOKEN` opens it. What acts is kept in `acts`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from agents.forge.hosts import ForgeKind
from tests.loopback.answering import AnsweringServer
from tests.loopback.wire import HttpRequest, json_response, response

TOKEN = "a-token-of-the-forge"
PATH = "acme/widget"
COMMIT = "c0ffee" + "0" * 34
_TIME = "2026-08-0{}T10:00:00Z"


@dataclass
class Said:
    """A comment; with a `path` one of a review, in the thread of the comment `id`."""

    id: int
    author: str
    body: str
    path: str = ""
    line: int = 0
    code: str = ""
    resolved: bool = False


@dataclass
class Run:
    """A check; `outcome` is success, failure or pending."""

    id: int
    name: str
    outcome: str
    log: str = ""


@dataclass
class Issue:
    number: int
    title: str
    body: str = ""
    author: str = "bob"
    closed: bool = False
    labels: tuple[str, ...] = ()
    comments: list[Said] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.closed


@dataclass
class Pull(Issue):
    """`verdict` is approved or changes; a review says `summary` with it."""

    head: str = "topic"
    base: str = "main"
    commit: str = COMMIT
    draft: bool = False
    merged: bool = False
    verdict: str = ""
    summary: str = ""
    runs: list[Run] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.closed or self.merged


@dataclass(frozen=True)
class Acted:
    """Something that a client did, by the path below the interface."""

    method: str
    path: str
    body: Mapping[str, Any]


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class ForgeServer(AnsweringServer):
    """`branch` is the default one. `limited`: it takes no more requests. `refusal` is what it answers to the
    next act, status and words. `asked` has the paths of all questions, `tokens` what they showed."""

    def __init__(self, kind: ForgeKind = "github") -> None:
        super().__init__()
        self.kind: ForgeKind = kind
        self.issues: dict[int, Issue] = {}
        self.pulls: dict[int, Pull] = {}
        self.acts: list[Acted] = []
        self.asked: list[str] = []
        self.tokens: list[str] = []
        self.limited = False
        self.branch = "main"
        self.refusal: tuple[int, str] | None = None
        self._speaks = {"github": _GitHub, "gitlab": _GitLab, "forgejo": _Forgejo}[kind](self)

    @property
    def remote(self) -> str:
        """The address of its repository, as a remote has it."""
        return f"{self.url}/{PATH}.git"

    @property
    def environ(self) -> dict[str, str]:
        """What makes a server under test know it, and its token."""
        name = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN", "forgejo": "FORGEJO_TOKEN"}[self.kind]
        return {"OPENCODE_WEB_FORGES": f"{self.kind}={self.url}", name: TOKEN}

    def add(self, *items: Issue) -> None:
        for item in items:
            if isinstance(item, Pull):
                self.pulls[item.number] = item
            else:
                self.issues[item.number] = item

    def item(self, number: int) -> Issue:
        found = self.pulls.get(number) or self.issues.get(number)
        if found is None:
            raise Refusal(404, "Not Found")
        return found

    def pull(self, number: int) -> Pull:
        if number not in self.pulls:
            raise Refusal(404, "Not Found")
        return self.pulls[number]

    def opened(self, title: str, body: str, head: str, base: str, *, draft: bool) -> Pull:
        number = max([0, *self.issues, *self.pulls]) + 1
        made = self.pulls[number] = Pull(number, title, body, "me", head=head, base=base, draft=draft)
        return made

    async def answer(self, request: HttpRequest) -> bytes:
        self.asked.append(f"{request.path}?{request.query}".removesuffix("?"))
        shown = request.headers.get("authorization", "").partition(" ")[2]
        self.tokens.append(shown)
        try:
            if request.path.startswith("/logs/"):
                log = self.log(int(request.path.rpartition("/")[2]))
                return response(200, log, {"content-type": "text/plain"})
            if self.limited:
                raise self._speaks.limit()
            if shown and shown != TOKEN:
                raise Refusal(401, "Bad credentials")
            return self._speaks.answer(request)
        except Refusal as refusal:
            return json_response(refusal.status, {"message": refusal.message}, refusal.headers)

    def log(self, number: int) -> str:
        runs = (run for pull in self.pulls.values() for run in pull.runs)
        found = next((run.log for run in runs if run.id == number), "")
        if not found:
            raise Refusal(404, "Not Found")
        return found


Route = tuple[str, str, Callable[..., Any]]


class _Dialect:
    """What the interfaces have in common: routes below a path, a token, pages with a `Link` to the next."""

    api = ""
    size = "per_page"
    routes: tuple[Route, ...] = ()

    def __init__(self, forge: ForgeServer) -> None:
        self.forge = forge

    def limit(self) -> Refusal:
        raise NotImplementedError

    def answer(self, request: HttpRequest) -> bytes:
        path = unquote(request.path) if self.api == "/api/v4" else request.path
        if not path.startswith(self.api):
            raise Refusal(404, "Not Found")
        below = path.removeprefix(self.api)
        query = {name: values[-1] for name, values in parse_qs(request.query).items()}
        for method, form, act in self.routes:
            if request.method == method and (found := re.fullmatch(form, below)):
                return self._done(request, act, found.groups(), query)
        raise Refusal(404, "Not Found")

    def _done(
        self, request: HttpRequest, act: Callable[..., Any], names: tuple[str, ...], query: dict[str, str]
    ) -> bytes:
        numbers = [int(name) if name.isdecimal() else name for name in names]
        if request.method == "GET":
            found = act(self, *numbers, query)
            if isinstance(found, bytes):
                return found
            return self._paged(request, found, query)
        if not request.headers.get("authorization"):
            raise Refusal(401, "Requires authentication")
        body = json.loads(request.body or b"{}")
        self.forge.acts.append(Acted(request.method, request.path.removeprefix(self.api), body))
        if self.forge.refusal:
            status, words = self.forge.refusal
            self.forge.refusal = None
            raise Refusal(status, words)
        return json_response(201, act(self, *numbers, body))

    def _paged(self, request: HttpRequest, found: Any, query: Mapping[str, str]) -> bytes:
        named = found if isinstance(found, dict) else {}
        key = next((name for name in ("items", "check_runs", "statuses") if name in named), "")
        listed = found[key] if key else found
        if not isinstance(listed, list):
            return json_response(200, found)
        size, page = int(query.get(self.size, "20")), int(query.get("page", "1"))
        part = listed[(page - 1) * size : page * size]
        more = len(listed) > page * size
        link = {"link": f'<{self.forge.url}{request.path}?page={page + 1}>; rel="next"'} if more else {}
        return json_response(200, {**found, key: part} if key else part, link)


def _time(number: int) -> str:
    return _TIME.format(1 + number % 8)


def _words(item: Issue, words: str) -> bool:
    return all(word in f"{item.title} {item.body}".lower() for word in words.lower().split())


class _GitHub(_Dialect):
    """docs.github.com/en/rest, version 2022-11-28, at the path of GitHub Enterprise."""

    api = "/api/v3"

    def limit(self) -> Refusal:
        headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 300)}
        return Refusal(403, "API rate limit exceeded for user ID 1.", headers)

    def user(self, query: Mapping[str, str]) -> Any:
        return {"login": "me"}

    def repository(self, query: Mapping[str, str]) -> Any:
        allowed = {"allow_merge_commit": True, "allow_squash_merge": True, "allow_rebase_merge": False}
        return {"default_branch": self.forge.branch, **allowed}

    def issue(self, item: Issue) -> dict[str, Any]:
        kind = "pull" if isinstance(item, Pull) else "issues"
        more = {"pull_request": {"merged_at": None}} if isinstance(item, Pull) else {}
        return {
            "id": 9000 + item.number, "number": item.number, "title": item.title, "body": item.body or None,
            "state": "closed" if item.closed else "open", "user": {"login": item.author},
            "labels": [{"name": name} for name in item.labels], "comments": len(item.comments),
            "html_url": f"{self.forge.url}/{PATH}/{kind}/{item.number}",
            "updated_at": _time(item.number), **more,
        }  # fmt: skip

    def pull(self, item: Pull) -> dict[str, Any]:
        plain = {key: value for key, value in self.issue(item).items() if key != "pull_request"}
        head = {"ref": item.head, "sha": item.commit, "repo": {"full_name": PATH}}
        state = "closed" if item.merged or item.closed else "open"
        return plain | {
            "draft": item.draft, "head": head, "base": {"ref": item.base}, "mergeable": True, "state": state,
            "merged_at": _time(1) if item.merged else None,
        }  # fmt: skip

    def issues(self, query: Mapping[str, str]) -> Any:
        items: list[Issue] = [*self.forge.issues.values(), *self.forge.pulls.values()]
        return [self.issue(item) for item in items if item.closed == (query.get("state") == "closed")]

    def pulls(self, query: Mapping[str, str]) -> Any:
        state, head = query.get("state", "open"), query.get("head", "").rpartition(":")[2]
        found = [item for item in self.forge.pulls.values() if not head or item.head == head]
        return [self.pull(item) for item in found if state == "all" or self.pull(item)["state"] == state]

    def search(self, query: Mapping[str, str]) -> Any:
        terms = query["q"].split()
        assert f"repo:{PATH}" in terms
        words = " ".join(term for term in terms if ":" not in term)
        chosen: Any = self.forge.pulls if "is:pr" in terms else self.forge.issues
        found = [self.issue(item) for item in chosen.values() if _words(item, words)]
        return {"total_count": len(found), "incomplete_results": False, "items": found}

    def one_issue(self, number: int, query: Mapping[str, str]) -> Any:
        return self.issue(self.forge.item(number))

    def one_pull(self, number: int, query: Mapping[str, str]) -> Any:
        return self.pull(self.forge.pull(number))

    def comment(self, said: Said) -> dict[str, Any]:
        url = f"{self.forge.url}/{PATH}/issues/1#issuecomment-{said.id}"
        user = {"login": said.author}
        return {"id": said.id, "user": user, "body": said.body, "html_url": url, "created_at": _time(said.id)}

    def comments(self, number: int, query: Mapping[str, str]) -> Any:
        return [self.comment(said) for said in self.forge.item(number).comments if not said.path]

    def reviews(self, number: int, query: Mapping[str, str]) -> Any:
        pull = self.forge.pull(number)
        state = {"approved": "APPROVED", "changes": "CHANGES_REQUESTED"}.get(pull.verdict, "COMMENTED")
        review = {"id": 1, "user": {"login": "eve"}, "body": pull.summary, "state": state}
        return [{**review, "submitted_at": _time(2)}]

    def lines(self, number: int, query: Mapping[str, str]) -> Any:
        said = (one for one in self.forge.pull(number).comments if one.path)
        return [
            self.comment(one) | {"path": one.path, "line": one.line, "diff_hunk": one.code} for one in said
        ]

    def runs(self, commit: str, query: Mapping[str, str]) -> Any:
        runs = [
            {
                "id": run.id, "name": run.name, "app": {"slug": "github-actions"}, "html_url": self.forge.url,
                "status": "in_progress" if run.outcome == "pending" else "completed",
                "conclusion": None if run.outcome == "pending" else run.outcome, "output": {"title": None},
            }
            for pull in self.forge.pulls.values() if pull.commit == commit for run in pull.runs
        ]  # fmt: skip
        return {"total_count": len(runs), "check_runs": runs}

    def status(self, commit: str, query: Mapping[str, str]) -> Any:
        status = {"context": "outside/ci", "state": "success", "description": "Fine"}
        return {"state": "success", "statuses": [status]}

    def logs(self, number: int, query: Mapping[str, str]) -> Any:
        self.forge.log(number)
        return response(302, "", {"location": f"{self.forge.url}/logs/{number}"})

    def create(self, body: Mapping[str, Any]) -> Any:
        if not {"title", "head", "base"} <= body.keys():
            raise Refusal(422, "Validation Failed")
        given = (body["title"], body["body"], body["head"], body["base"])
        return self.pull(self.forge.opened(*given, draft=bool(body.get("draft"))))

    def say(self, number: int, *rest: Any) -> Any:
        said = Said(500 + len(self.forge.acts), "me", rest[-1]["body"])
        self.forge.item(number).comments.append(said)
        return self.comment(said)

    def merge(self, number: int, body: Mapping[str, Any]) -> Any:
        pull = self.forge.pull(number)
        if body["sha"] != pull.commit:
            raise Refusal(409, "Head branch was modified. Review and try the merge again.")
        pull.merged = True
        return {"merged": True, "sha": pull.commit}

    _at = f"/repos/{PATH}"
    routes: tuple[Route, ...] = (
        ("GET", "/user", user),
        ("GET", _at, repository),
        ("GET", f"{_at}/issues", issues),
        ("GET", f"{_at}/pulls", pulls),
        ("GET", "/search/issues", search),
        ("GET", rf"{_at}/issues/(\d+)", one_issue),
        ("GET", rf"{_at}/pulls/(\d+)", one_pull),
        ("GET", rf"{_at}/issues/(\d+)/comments", comments),
        ("GET", rf"{_at}/pulls/(\d+)/reviews", reviews),
        ("GET", rf"{_at}/pulls/(\d+)/comments", lines),
        ("GET", rf"{_at}/commits/(\w+)/check-runs", runs),
        ("GET", rf"{_at}/commits/(\w+)/status", status),
        ("GET", rf"{_at}/actions/jobs/(\d+)/logs", logs),
        ("POST", f"{_at}/pulls", create),
        ("POST", rf"{_at}/issues/(\d+)/comments", say),
        ("POST", rf"{_at}/pulls/(\d+)/comments/(\d+)/replies", say),
        ("PUT", rf"{_at}/pulls/(\d+)/merge", merge),
    )


class _GitLab(_Dialect):
    """docs.gitlab.com/api, version 4."""

    api = "/api/v4"

    def limit(self) -> Refusal:
        return Refusal(429, "Retry later", {"retry-after": "60", "ratelimit-remaining": "0"})

    def user(self, query: Mapping[str, str]) -> Any:
        return {"username": "me"}

    def project(self, query: Mapping[str, str]) -> Any:
        allowed = {"merge_method": "merge", "squash_option": "default_off"}
        return {"id": 1, "default_branch": self.forge.branch, **allowed}

    def issue(self, item: Issue) -> dict[str, Any]:
        kind = "merge_requests" if isinstance(item, Pull) else "issues"
        return {
            "id": 9000 + item.number, "iid": item.number, "title": item.title, "description": item.body,
            "state": "closed" if item.closed else "opened", "author": {"username": item.author},
            "labels": list(item.labels), "user_notes_count": len(item.comments),
            "updated_at": _time(item.number),
            "web_url": f"{self.forge.url}/{PATH}/-/{kind}/{item.number}",
        }  # fmt: skip

    def pull(self, item: Pull) -> dict[str, Any]:
        return self.issue(item) | {
            "source_branch": item.head, "target_branch": item.base, "sha": item.commit, "draft": item.draft,
            "source_project_id": 1, "target_project_id": 1, "merge_status": "can_be_merged",
            "state": "merged" if item.merged else "closed" if item.closed else "opened",
            "head_pipeline": {"id": item.number, "project_id": 1} if item.runs else None,
        }  # fmt: skip

    def _listed(self, items: Any, render: Callable[[Any], Any], query: Mapping[str, str]) -> Any:
        state, branch = query.get("state", "all"), query.get("source_branch", "")
        found = [render(item) for item in items.values() if _words(item, query.get("search", ""))]
        chosen = (row for row in found if state in ("all", row["state"]))
        return [row for row in chosen if branch in ("", row.get("source_branch"))]

    def issues(self, query: Mapping[str, str]) -> Any:
        return self._listed(self.forge.issues, self.issue, query)

    def pulls(self, query: Mapping[str, str]) -> Any:
        return self._listed(self.forge.pulls, self.pull, query)

    def one_issue(self, number: int, query: Mapping[str, str]) -> Any:
        if number not in self.forge.issues:
            raise Refusal(404, "404 Not Found")
        return self.issue(self.forge.issues[number])

    def one_pull(self, number: int, query: Mapping[str, str]) -> Any:
        return self.pull(self.forge.pull(number))

    def note(self, said: Said) -> dict[str, Any]:
        place = {"new_path": said.path, "new_line": said.line} if said.path else None
        return {
            "id": said.id, "body": said.body, "author": {"username": said.author},
            "created_at": _time(said.id),
            "system": False, "resolvable": bool(said.path), "resolved": said.resolved, "position": place,
        }  # fmt: skip

    def discussions(self, kind: str, number: int, query: Mapping[str, str]) -> Any:
        item = self.forge.issues[number] if kind == "issues" else self.forge.pull(number)
        system = {"id": 1, "body": "changed the title", "system": True, "author": {"username": "x"}}
        found = [{"id": f"d{said.id}", "notes": [self.note(said)]} for said in item.comments]
        return [{"id": "d0", "individual_note": True, "notes": [system]}, *found]

    def jobs(self, number: int, query: Mapping[str, str]) -> Any:
        return [
            {
                "id": run.id, "name": run.name, "stage": "test", "web_url": self.forge.url,
                "allow_failure": False,
                "status": {"failure": "failed", "pending": "running"}.get(run.outcome, run.outcome),
            }
            for run in self.forge.pull(number).runs
        ]  # fmt: skip

    def trace(self, number: int, query: Mapping[str, str]) -> Any:
        return response(200, self.forge.log(number), {"content-type": "text/plain"})

    def create(self, body: Mapping[str, Any]) -> Any:
        draft = body["title"].startswith("Draft: ")
        given = (body["title"], body["description"], body["source_branch"], body["target_branch"])
        return self.pull(self.forge.opened(*given, draft=draft))

    def say(self, kind: str, number: int, *rest: Any) -> Any:
        said = Said(500 + len(self.forge.acts), "me", rest[-1]["body"])
        self.forge.item(number).comments.append(said)
        return self.note(said)

    def merge(self, number: int, body: Mapping[str, Any]) -> Any:
        pull = self.forge.pull(number)
        if body["sha"] != pull.commit:
            raise Refusal(409, "SHA does not match HEAD of source branch")
        pull.merged = True
        return self.pull(pull)

    _at = f"/projects/{PATH}"
    _KIND = "(issues|merge_requests)"
    routes: tuple[Route, ...] = (
        ("GET", "/user", user),
        ("GET", _at, project),
        ("GET", f"{_at}/issues", issues),
        ("GET", f"{_at}/merge_requests", pulls),
        ("GET", rf"{_at}/issues/(\d+)", one_issue),
        ("GET", rf"{_at}/merge_requests/(\d+)", one_pull),
        ("GET", rf"{_at}/{_KIND}/(\d+)/discussions", discussions),
        ("GET", r"/projects/1/pipelines/(\d+)/jobs", jobs),
        ("GET", r"/projects/1/jobs/(\d+)/trace", trace),
        ("POST", f"{_at}/merge_requests", create),
        ("POST", rf"{_at}/{_KIND}/(\d+)/notes", say),
        ("POST", rf"{_at}/{_KIND}/(\d+)/discussions/(\w+)/notes", say),
        ("PUT", rf"{_at}/merge_requests/(\d+)/merge", merge),
    )


class _Forgejo(_GitHub):
    """codeberg.org/api/swagger: Forgejo's and Gitea's version 1, whose shapes are much like GitHub's."""

    api = "/api/v1"
    size = "limit"

    def limit(self) -> Refusal:
        return Refusal(429, "Too many requests")

    def repository(self, query: Mapping[str, str]) -> Any:
        allowed = {"allow_merge_commits": True, "allow_squash_merge": True, "allow_rebase": True}
        return {"default_branch": self.forge.branch, **allowed}

    def issue(self, item: Issue) -> dict[str, Any]:
        plain = super().issue(item)
        if isinstance(item, Pull):
            plain["pull_request"] = {"merged": item.merged, "draft": item.draft}
        return plain

    def pull(self, item: Pull) -> dict[str, Any]:
        return super().pull(item) | {"merged": item.merged}

    def issues(self, query: Mapping[str, str]) -> Any:
        chosen: Any = self.forge.pulls if query.get("type") == "pulls" else self.forge.issues
        closed = query.get("state") == "closed"
        found = (item for item in chosen.values() if _words(item, query.get("q", "")))
        return [self.issue(item) for item in found if item.done == closed]

    def reviews(self, number: int, query: Mapping[str, str]) -> Any:
        lines = [said for said in self.forge.pull(number).comments if said.path]
        state = {"CHANGES_REQUESTED": "REQUEST_CHANGES", "COMMENTED": "COMMENT"}
        return [
            row | {"state": state.get(row["state"], row["state"]), "comments_count": len(lines)}
            for row in super().reviews(number, query)
        ]

    def of_review(self, number: int, review: int, query: Mapping[str, str]) -> Any:
        return [
            {key: value for key, value in row.items() if key != "line"} | {"position": row["line"]}
            for row in self.lines(number, query)
        ]

    def status(self, commit: str, query: Mapping[str, str]) -> Any:
        runs = [run for pull in self.forge.pulls.values() if pull.commit == commit for run in pull.runs]
        statuses = [{"context": run.name, "status": run.outcome, "description": ""} for run in runs]
        return {"state": "", "statuses": statuses}

    def create(self, body: Mapping[str, Any]) -> Any:
        given = (body["title"], body["body"], body["head"], body["base"])
        return self.pull(self.forge.opened(*given, draft=body["title"].startswith("WIP: ")))

    def merge(self, number: int, body: Mapping[str, Any]) -> Any:
        return super().merge(number, {"sha": body["head_commit_id"]})

    _at = f"/repos/{PATH}"
    routes: tuple[Route, ...] = (
        ("GET", "/user", _GitHub.user),
        ("GET", _at, repository),
        ("GET", f"{_at}/issues", issues),
        ("GET", f"{_at}/pulls", _GitHub.pulls),
        ("GET", rf"{_at}/issues/(\d+)", _GitHub.one_issue),
        ("GET", rf"{_at}/pulls/(\d+)", _GitHub.one_pull),
        ("GET", rf"{_at}/issues/(\d+)/comments", _GitHub.comments),
        ("GET", rf"{_at}/pulls/(\d+)/reviews", reviews),
        ("GET", rf"{_at}/pulls/(\d+)/reviews/(\d+)/comments", of_review),
        ("GET", rf"{_at}/commits/(\w+)/status", status),
        ("POST", f"{_at}/pulls", create),
        ("POST", rf"{_at}/issues/(\d+)/comments", _GitHub.say),
        ("POST", rf"{_at}/pulls/(\d+)/merge", merge),
    )
