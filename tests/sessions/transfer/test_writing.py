"""Exports: JSON, Markdown and HTML of a whole conversation, hostile or not, with and without secrets."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sessions.core.db import in_db
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from sessions.transfer.reading.exported import Exported
from sessions.transfer.writing.document import Document, collect
from sessions.transfer.writing.forms import written
from sessions.transfer.writing.redact import BLACK, PIECE, Redactor, known_values
from sessions.transfer.writing.transcript import LONGEST, policy, style
from tests.sessions.talk import Talk
from tests.sessions.transfer import making

HOSTILE = "</style></pre><script>pwned()</script><img src=//evil.example onerror=pwned()> \x1b[31m\u202e"
SVG = "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InB3bmVkKCkiLz4="
PNG = "data:image/png;base64,iVBORw0KGgo="


class Page(HTMLParser):
    """The tags with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def every(self, name: str) -> list[str | None]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]


def document(*entries: dict[str, Any], **info: Any) -> Document:
    return Document({**making.session("/home/me/flows", parentID=None), **info}, list(entries))


def hostile() -> Document:
    state = {"status": "error", "input": {"filePath": HOSTILE}, "error": HOSTILE, "metadata": {}}
    done = {
        "status": "completed",
        "input": {"x": HOSTILE},
        "output": HOSTILE,
        "title": HOSTILE,
        "metadata": {"diff": f"@@ -1 +1 @@\n-{HOSTILE}\n+new", "sessionId": '"><b>'},
        "attachments": [{"mime": "image/svg+xml", "url": SVG}, {"mime": "image/png", "url": PNG}],
    }
    parts = [
        making.part("1", making.ANSWER, text=f"{HOSTILE} [a](javascript:pwned()) ![b](//evil.example/x)"),
        making.part("2", making.ANSWER, "reasoning", text=HOSTILE, time={"start": 1}),
        making.part("3", making.ANSWER, "tool", tool="read", callID="c", state=state),
        making.part("4", making.ANSWER, "tool", tool=HOSTILE, callID="d", state=done),
        making.part("5", making.ANSWER, "file", mime="image/svg+xml", url=SVG, filename=HOSTILE),
        making.part("6", making.ANSWER, HOSTILE),
        making.part("7", making.ANSWER, "file", mime="image/png", url="https://evil.example/x.png"),
    ]
    error = {"name": "APIError", "data": {"message": HOSTILE}}
    asked = {"info": making.prompt(), "parts": [making.part("0", making.PROMPT, text=HOSTILE)]}
    said = {"info": making.answer("/x", agent=HOSTILE, modelID=HOSTILE, error=error), "parts": parts}
    return document(asked, said, title=HOSTILE, directory=HOSTILE)


def test_a_hostile_conversation_is_a_harmless_page() -> None:
    html = written(hostile(), "html").decode()
    page = Page(html)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "iframe", "object", "embed", "link", "form", "svg", "b"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.every("src") == [PNG]
    assert all(href and href.startswith(("#", "https://", "http://")) for href in page.every("href"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)
    assert page.text.count("<script>pwned()</script>") >= 8


def test_the_page_needs_nothing_and_may_nothing() -> None:
    html = written(document(), "html").decode()
    assert f'content="{policy()}"'.replace("'", "&#x27;") in html
    assert policy().startswith("default-src 'none'; style-src 'sha256-")
    assert f"<style>{style()}</style>" in html
    assert not re.search(r"url\(|@import|@font-face|</", style())


def test_very_long_output_is_cut_and_says_so() -> None:
    state = {"status": "completed", "input": {}, "output": "x\n" * LONGEST, "title": ""}
    call = making.part("1", making.ANSWER, "tool", tool="bash", callID="c", state=state)
    html = written(document({"info": making.answer("/x"), "parts": [call]}), "html")
    assert len(html) < 2 * LONGEST
    assert b"characters left out" in html


@pytest.mark.django_db(transaction=True)
async def test_subagents_are_sections_and_undone_messages_are_not(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="Above")
    await talk.prompt("kept")
    undone = await talk.prompt("undone")
    await in_db(session_store.update, talk.session.id, revert={"messageID": undone})
    child = await in_db(
        session_store.create, talk.project, talk.session.directory, title="Below", parent=talk.session.id
    )
    await Talk(talk.project, child).prompt("asked of the subagent")
    await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
    session = await in_db(session_store.get, talk.session.id)
    assert session is not None
    found = await in_db(collect, session)
    for form in ("html", "markdown"):
        text = written(found, form).decode()
        assert "asked of the subagent" in text
        assert "undone" not in text
        assert text.index("Above") < text.index("Below")
        assert "was at work when this was written" in text
    (tmp_path / "x.json").write_bytes(written(found, "json"))
    headers = Exported(tmp_path / "x.json").headers()
    assert [(header.id, header.parent, header.messages) for header in headers] == [
        (session.id, "", 2),
        (child.id, session.id, 1),
    ]


MODEL_KEY = "-".join(["sk", "ant", "a1b2c3d4" * 5])
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"key {MODEL_KEY} here", f"key {BLACK} here"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", BLACK),
        ("AKIAIOSFODNN7EXAMPLE", BLACK),
        (f"x {KEY} y", f"x {BLACK} y"),
        ("-----BEGIN PRIVATE KEY-----\\nMIIE", BLACK),
        ("Authorization: Bearer abc.def-123", f"Authorization: Bearer {BLACK}"),
        ('curl -H "X-Api-Key: abcdef123"', f'curl -H "X-Api-Key: {BLACK}"'),
        ("OPENAI_API_KEY=abcdef123456 make", f"OPENAI_API_KEY={BLACK} make"),
        ('"password": "correct horse"', f'"password": "{BLACK} horse"'),
        ("postgres://me:hunter2@db/x", f"postgres://{BLACK}@db/x"),
        ("the value is tell-nobody!", f"the value is {BLACK}"),
        ("tell%2Dnobody%21 tell-nobody%21", f"tell%2Dnobody%21 {BLACK}"),
        ("/home/me/code and /Users/you/x", "~/code and ~/x"),
        ("cd /srv/home-of-me/x; ls /srv/home-of-mine", "cd ~/x; ls /srv/home-of-mine"),
        ("token = getToken(request)", "token = getToken(request)"),
        ("api_key = os.environ['X']", "api_key = os.environ['X']"),
        ("It took 12 tokens: all fine", "It took 12 tokens: all fine"),
    ],
)
def test_secrets_and_homes_are_taken_out(text: str, expected: str) -> None:
    assert Redactor(["tell-nobody!"], "/srv/home-of-me").text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"api_key":"0123456789abcdef"', '"api_key":"[redacted]"'),
        ("password:\n  hunter2hunter2", "password:\n  [redacted]"),
        ("Cookie: a=0123456789; b=0123456789 c", "Cookie: [redacted]"),
        ("ghp_0123456789abcdefghij0123456789", "[redacted]"),
        ("http://user:password@host", "http://[redacted]@host"),
        ("/home/somebody/x", "~/x"),
    ],
)
def test_a_secret_may_lie_anywhere_in_a_long_line(text: str, expected: str) -> None:
    redactor = Redactor([])
    for before in range(PIECE - len(text) - 2, PIECE + 2, 3):
        long = f'{"," * before}{text}"{"," * PIECE}'
        assert redactor.text(long) == long.replace(text, expected)
    token = "token=" + "x" * 2 * PIECE
    assert redactor.text(f"{',' * PIECE}{token}") == f"{',' * PIECE}token=[redacted]"


def test_every_place_of_a_record_is_gone_through() -> None:
    redactor = Redactor(["tell-nobody!"])
    secret = base64.b64encode(b"x tell-nobody!").decode()
    value = {
        "tell-nobody!": [{"apiKey": "abcdefgh"}, "tell-nobody!"],
        "url": f"data:text/plain;base64,{secret}",
        "picture": PNG,
        "cost": 0.5,
        "nothing": None,
    }
    inside = base64.b64encode(f"x {BLACK}".encode()).decode()
    assert redactor.value(value) == {
        BLACK: [{"apiKey": BLACK}, BLACK],
        "url": f"data:text/plain;base64,{inside}",
        "picture": PNG,
        "cost": 0.5,
        "nothing": None,
    }


def test_the_secrets_of_this_machine_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"a": {"type": "oauth", "access": "access-value", "expires": 1}}))
    signed_in = {
        "tokens": {"accessToken": "mcp-value", "scope": "a-scope"},
        "serverUrl": "https://one.example",
    }
    (tmp_path / "mcp-auth.json").write_text(json.dumps({"server": signed_in}))
    forge = {"kind": "gitlab", "address": "https://git.example", "token": "forge-value"}
    (tmp_path / "forges.json").write_text(json.dumps({"git.example": forge}))
    settings.AUTH_FILES = [auth, tmp_path / "gone.json"]
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "service-value")
    monkeypatch.setenv("MONKEY", "a-monkey-value")
    found = known_values()
    kept = {"access-value", "mcp-value", "forge-value"}
    assert {*kept, "service-value", settings.SECRET_KEY} <= set(found)
    open_ones = {"oauth", "a-scope", "https://one.example", "https://git.example", "a-monkey-value"}
    assert not open_ones & set(found)


@pytest.mark.parametrize("form", ["json", "markdown", "html"])
def test_every_form_can_be_redacted(form: str) -> None:
    secret = MODEL_KEY
    asked = {"info": making.prompt(), "parts": [making.part("0", making.PROMPT, text=f"use {secret}")]}
    assert secret in written(document(asked), form).decode()
    text = written(document(asked), form, redact=True).decode()
    assert secret not in text
    assert "/home/me" not in text
