"""The rules about pages (6-8, 17), attacked on the real server with a hostile conversation."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from django.urls import URLPattern, URLResolver
from django.urls.resolvers import RoutePattern

from opencode_web import urls
from sessions.core.index import fts
from sessions.core.plans import IN_REPOSITORY
from tests.opencode_web.site.security.audit import HOSTILE, faults, text_of
from tests.opencode_web.site.security.listed import API, BOTH, CALLED, CHANGES, NAMES, READS
from tests.opencode_web.site.security.rooms import BRANCH, PATTERN, fill, found, git, script
from tests.opencode_web.site.security.stage import CONTROL, ELSEWHERE, NAME, Stage, hostile

ROOT = Path(__file__).parents[4]
ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

FIELD = re.compile(r"<textarea\b.*?</textarea>", re.DOTALL)
"""What is edited has to come as it is."""


OWN = "default-src 'self'; script-src 'self'; style-src 'self'"
SEALED = "default-src 'none'; style-src 'sha256-"
"""Of a transcript, which needs nothing and runs nothing."""
SAVED = "sandbox; default-src 'none'"
"""Of a file that is not shown."""
DRAWS = "sandbox allow-scripts; default-src 'none'; script-src 'sha256-"
"""Of the document in which diagrams are drawn, which has nothing of a conversation in it."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("work") / "'><pwned onpwned=1>"
    folder.mkdir()
    git(folder, "init", "-q", "-b", BRANCH)
    git(folder, "commit", "-q", "--allow-empty", "-m", HOSTILE)
    async with hostile(home, folder, script()) as stage:
        await fill(stage)
        yield stage


def filled(stage: Stage, path: str, part: str = "prt_x", file: str = NAME) -> str:
    names = {"base": stage.base, "project": stage.project, "session": stage.session, "change": "9999"}
    names |= stage.ids | {"waits": f"/p/{stage.project}/s/{stage.ids['staged']}"}
    return path.format(**names, message=stage.prompt, part=part, file=quote(file))


def routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        assert isinstance(pattern.pattern, RoutePattern)
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            assert isinstance(pattern, URLPattern)
            yield "/" + re.sub(r"<[^>]*>", "*", path)


BY_ITSELF = ("lease_owner", "lease_until", "lease_epoch", "document")


def remembered(stage: Stage) -> dict[str, list[Any]]:
    """Every row of every table, without what comes and goes by itself: leases, and the place in the index."""
    rows: dict[str, list[Any]] = {}
    with sqlite3.connect(f"file:{stage.server.data / 'db.sqlite3'}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table.startswith(fts.PREFIX):
                continue  # it has no rows of its own
            every = database.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608
            rows[table] = [{key: row[key] for key in row.keys() if key not in BY_ITSELF} for row in every]  # noqa: SIM118
    return rows


# Rule 6


ANY = (
    r"(msg|per|pin|que)_x|(?<=image/)none|(?<=/files/)0$|(?<=keys/of/)\w+$"
    r"|(?<=/runs/)1(?=/)|(?<=/measure/)1$|(?<=/log/)1$|(?<=/do/)run$|(?<=/hook/)none$"
)
"""What stands for any value in an address."""


def test_rule_6_the_lists_below_name_every_page() -> None:
    paths = [path.partition("?")[0] for path in (*CHANGES, *CALLED, *BOTH, *READS)]
    base = dict.fromkeys(NAMES, "*") | {"base": "/p/*/s/*", "waits": "/p/*/s/*"}
    known = {re.sub(ANY, "*", path.format(**base)) for path in paths}
    assert set(routes(urls.urlpatterns)) <= known


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_rule_6_looking_changes_nothing(stage: Stage) -> None:
    before = remembered(stage)
    files = {path: path.read_bytes() for path in stage.server.project.iterdir() if path.is_file()}
    for path in (*CHANGES, *CALLED, *BOTH, *READS, *API):
        for method in ("GET", "HEAD", "OPTIONS"):
            answer = await stage.browser.request(method, filled(stage, path))
            assert answer.status_code < 500, path
            assert answer.status_code == 405 or path not in (*CHANGES, *CALLED) or method == "OPTIONS", path
    assert remembered(stage) == before
    assert {path: path.read_bytes() for path in stage.server.project.iterdir() if path.is_file()} == files


@pytest.mark.asyncio(loop_scope="module")
async def test_rule_6_every_change_of_a_page_needs_the_token(stage: Stage) -> None:
    before = remembered(stage)
    for path in (*CHANGES, *BOTH):
        token = {"X-CSRF-Token": stage.browser.token}
        for headers in ({}, {"Origin": stage.browser.origin}, token, {**token, "Origin": ELSEWHERE}):
            answer = await stage.browser.post(filled(stage, path), headers=headers, data={"title": "changed"})
            assert answer.status_code == 403, path
    for path in ("/session", f"/session/{stage.session}/abort", f"/session/{stage.session}/message"):
        answer = await stage.browser.post(path, headers={"Origin": stage.browser.origin}, json={})
        assert answer.status_code == 403, path
    assert remembered(stage) == before
    assert (await stage.browser.change(f"{stage.base}/rename", title=HOSTILE + CONTROL)).status_code == 200


# Rules 7, 8 and 17


async def rendered(stage: Stage) -> dict[str, str]:
    """Every page and fragment there is of the hostile conversation."""
    pages = {}
    changed = await stage.browser.get(f"{stage.base}/review")
    parts = [part["id"] for message in stage.history for part in message["parts"]]
    files = re.findall(r'data-key="([^"]+)"', changed.text)
    assert any("pwned" in name for name in files)
    session = await stage.client.session(stage.session)
    plan = stage.server.project / IN_REPOSITORY / f"{session['time']['created']}-{session['slug']}.md"
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text(HOSTILE)
    paths = [filled(stage, path) for path in (*BOTH, *READS)]
    paths += [filled(stage, "{base}/parts/{part}/output", part=part) for part in parts]
    paths += [
        filled(stage, "{base}/review/file?path={file}&view=split&all=1", file=unescape(name))
        for name in files
    ]
    for path in [*paths, "/login?next=/'\"><pwned>"]:
        answer = await stage.browser.get(path)
        assert answer.status_code < 400 or re.search("none|nothing|(prt|msg|per|pin|que)_x", path), path
        policy = answer.headers["content-security-policy"]
        if policy.startswith(DRAWS):
            continue
        if answer.headers.get("content-type", "").startswith("text/html"):
            pages[path] = without_its_style(answer.text, policy)
        saved = answer.headers.get("content-disposition", "").startswith("attachment") and policy == SAVED
        assert policy.startswith(OWN) or (policy.startswith(SEALED) and "; sandbox" in policy) or saved, path
        assert not re.search(r"unsafe|\*|https?:", policy)
    return pages


def without_its_style(html: str, policy: str) -> str:
    """A transcript without the one style sheet that its policy names by its digest."""
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)
    if not policy.startswith(SEALED) or style is None:
        return html
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    return html.replace(style[0], "", 1) if f"'sha256-{digest}'" in policy else html


@pytest.mark.asyncio(loop_scope="module")
async def test_rules_7_and_8_no_page_lets_hostile_text_become_an_element(stage: Stage) -> None:
    pages = await rendered(stage)
    assert len(pages) > 60
    assert {path: faults(html) for path, html in pages.items() if faults(html)} == {}
    hostile = (
        "{base}/fork?before={message}", "{base}/review/undo?scope=session", "{base}/comments/{comment}",
        "/p/{project}/log/calls/{session}/{call}/invert", "/p/{project}/log", "{base}/timeline",
        "{base}/timeline/at?change={change}", "{base}/timeline/point?change={change}",
        "{base}/fork/files?before={message}", "{waits}/review?scope=staged", "{waits}/staging/files",
        "{base}/review?scope=git", "{base}/review?scope=project", "/settings/store/{project}",
        "/p/{project}/rules/decisions", "{base}/review/files?path={file}", "/settings", "{base}/plan/edit",
    )  # fmt: skip
    for path in hostile:
        assert "<pwned" in text_of(pages[filled(stage, path)]), path
    worktree = text_of(pages[filled(stage, "/worktrees/{worktree}/remove")])
    assert all(text in worktree for text in (BRANCH, HOSTILE, "loose'"))
    assert f"edit: {PATTERN}" in text_of(pages[filled(stage, "/p/{project}/rules")])
    for index, html in enumerate(stage.frames):
        assert faults(html) == [], f"frame {index}"
    session = text_of(pages[stage.base])
    assert session.count("<pwned onpwned=1>") > 10
    assert "<pwned onpwned=1>" in text_of(pages[filled(stage, "{base}/undo/{message}")])
    assert "<pwned onpwned=1>" in text_of(pages[filled(stage, "{base}/review")])
    assert "<pwned" in text_of(pages["/?choose"])


@pytest.mark.asyncio(loop_scope="module")
async def test_rule_7_htmx_may_neither_eval_nor_run_scripts_nor_ask_others(stage: Stage) -> None:
    page = (await stage.browser.get(stage.base)).text
    meta = re.search(r"<meta name=\"htmx-config\" content='([^']+)'", page)
    assert meta is not None
    config = json.loads(meta[1])
    assert (config["allowEval"], config["allowScriptTags"]) == (False, False)
    assert (config["selfRequestsOnly"], config["includeIndicatorStyles"]) == (True, False)
    values = re.findall(r"hx-(?:vals|headers|vars)=(?:'([^']*)|\"([^\"]*))", page)
    assert values
    assert not any("".join(value).lstrip().startswith(("js:", "javascript:")) for value in values)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
async def test_rule_8_control_and_direction_characters_are_shown_and_do_not_act(stage: Stage) -> None:
    shown = await rendered(stage) | {f"frame {index}": html for index, html in enumerate(stage.frames)}
    for name, html in shown.items():
        assert not ACTING.search(text_of(FIELD.sub("", html))), name


@pytest.mark.asyncio(loop_scope="module")
async def test_rule_8_links_have_allowed_schemes_and_images_are_the_pages_own(stage: Stage) -> None:
    page = (await stage.browser.get(stage.base)).text
    links = {
        link for link in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', page) if not link.startswith(("/", "#"))
    }
    assert links
    assert all(link.startswith(ELSEWHERE) for link in links)
    images = re.findall(r'<img\b[^>]*\bsrc="([^"]*)"', page)
    assert images
    assert all(image.startswith(f"{stage.base}/parts/") for image in images)
    for image in images:
        answer = await stage.browser.get(image)
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["content-security-policy"].startswith("sandbox")
    assert "svg+xml" not in re.sub(r'<link rel="icon"[^>]*>', "", page)
    assert all(
        'rel="noopener noreferrer"' in tag for tag in re.findall(r'<a [^>]*target="_blank"[^>]*>', page)
    )


@pytest.mark.asyncio(loop_scope="module")
async def test_rule_8_a_prompt_of_the_page_takes_no_documents(stage: Stage) -> None:
    for mime, url in (
        ("image/svg+xml", "data:image/svg+xml;base64,PHN2Zz4="),
        ("text/html", "data:text/html;base64,PHN2Zz4="),
        ("image/png", "data:text/html;base64,PHN2Zz4="),
        ("image/png", f"{ELSEWHERE}/spy.png"),
        ("image/png", "file:///etc/passwd"),
    ):
        file = json.dumps({"mime": mime, "url": url, "filename": "x"})
        answer = await stage.browser.change(f"{stage.base}/prompt", text="Look.", file=file)
        assert answer.status_code == 422, url


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("title", ["edit", "bash"])
async def test_rules_7_and_8_a_permission_question_cannot_be_forged(stage: Stage, title: str) -> None:
    """Two turns ask one after the other: for a file with a hostile name, for a hostile command."""
    asked = await stage.ask()
    assert asked["permission"] == title
    page = (await stage.browser.get(stage.base)).text
    dialog = page[page.index('id="permissions"') : page.index('id="strip"')]
    assert faults(page) == []
    assert "<pwned onpwned=1>" in text_of(dialog)
    # A line with control characters is not understood: nothing but "once" is offered.
    assert len(re.findall("<button", dialog)) == (5 if title == "edit" else 2)
    assert not ACTING.search(text_of(dialog))
    url, shown = f"/permissions/{asked['id']}/reply", {"hash": asked["hash"]}
    assert (await stage.browser.change(url, answer="once", hash="another")).status_code == 422
    assert (await stage.browser.change(url, answer="reject", **shown)).status_code == 200
    assert (await stage.browser.change(url, answer="once", **shown)).status_code == 422


@pytest.mark.asyncio(loop_scope="module")
async def test_rule_8_answers_to_verdicts_are_escaped_too(stage: Stage) -> None:
    """Conflicts, notes and refusals repeat names and lines; a session's last answer is to its deletion."""
    base, change = filled(stage, "{waits}"), stage.browser.change
    path = f"staged{NAME}"
    (stage.server.project / path).write_text(f"mine {HOSTILE}")
    page = (await stage.browser.get(f"{base}/review?scope=staged")).text
    drawn = dict(re.findall(r'data-key="([^"]*)"[^>]*data-drawn="([^"]*)"', page))
    form = {"file": path, "noted": "1", "panel": "1"}
    seals = next(seals for key, seals in drawn.items() if unescape(key) == path)
    answers = [
        await change(f"{base}/staging/keep", **form, drawn=""),
        await change(f"{base}/staging/keep", **form, drawn=seals),
        await change(f"{base}/staging/keep", noted="1", drawn=" ".join(drawn.values())),
        await change(f"{base}/staging/mode", on="0"),
    ]
    seen = {"seen": found(r'name="seen" value="(\w+)"', answers[1].text), "choice-0": "other"}
    answers += [
        await change(f"{base}/staging/resolve", **form, **seen, drawn=seals),
        await change(filled(stage, "/p/{project}/rules/{rule}/revoke")),
        await change(filled(stage, "/p/{project}/rules/{rule}/restore")),
        await change(filled(stage, "{base}/review/undo"), path=NAME, words=HOSTILE),
        await change(filled(stage, "{base}/comments/{comment}"), text=HOSTILE + CONTROL),
        await change(filled(stage, "/worktrees/{worktree}/remove"), seen="another"),
        await change("/settings/store/clean"),
        await change(f"{base}/delete"),
    ]
    assert [answer.status_code for answer in answers] == [422, *[200] * 8, 422, 200, 200]
    for answer in answers:
        assert faults(answer.text) == []
        assert not ACTING.search(text_of(FIELD.sub("", answer.text)))
    assert all("<pwned" in text_of(answer.text) for answer in (*answers[:3], *answers[5:9], answers[-1]))


def test_rule_17_nothing_of_ours_is_fetched_from_elsewhere() -> None:
    names = ("*.html", "*.js", "*.css", "*.svg")
    files = [
        path for folder in ("templates", "static") for name in names for path in (ROOT / folder).rglob(name)
    ]
    files += (ROOT / "opencode_web" / "security").glob("login.*")
    assert len(files) > 80
    for file in files:
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        loads = re.findall(
            r"(?:(?:src|href|action)=|url\(|fetch\(|@import)\s*[\"'(]?\s*(?:\w+:)?//"
            r"|\b(?:import|from)\s*[\"']\s*(?:\w+:)?//",
            text,
        )
        assert loads == [], file
        if "vendor" not in file.parts:
            assert not re.search(r"\b(?:https?|wss?)://(?!\$\{)", text), file
