"""What servers say of their apps: addresses, audiences, documents and the domains that they want to reach."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from mcp import types

from agents.servers.mcp.apps import MIME, MOST_BYTES, MOST_DOMAINS, Document, address_of, document_of, is_for


def tool(meta: Any = None) -> types.Tool:
    return types.Tool(name="x", input_schema={"type": "object"}, _meta=meta)


def text(html: str = "<p>x", mime: str | None = MIME, meta: Any = None) -> types.TextResourceContents:
    return types.TextResourceContents(uri="ui://x", mime_type=mime, text=html, _meta=meta)


def reaching(**csp: Any) -> Document:
    return document_of([text(meta={"ui": {"csp": csp}})])


@pytest.mark.parametrize(
    ("meta", "address"),
    [
        ({"ui": {"resourceUri": "ui://a/b"}}, "ui://a/b"),
        ({"ui/resourceUri": "ui://a/b"}, "ui://a/b"),
        ({"ui": {"resourceUri": "https://a/b"}}, ""),
        ({"ui": {"resourceUri": "ui://" + "a" * 1000}}, ""),
        ({"ui": {"resourceUri": 1}}, ""),
        ({"ui": "ui://a"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_address_of_a_tools_app(meta: Any, address: str) -> None:
    assert address_of(tool(meta)) == address


@pytest.mark.parametrize(
    ("named", "model", "app"),
    [
        (["model"], True, False),
        (["app"], False, True),
        (["model", "app"], True, True),
        ([], False, False),
        ("app", True, True),
        (None, True, True),
    ],
)
def test_whom_a_tool_is_for(named: Any, model: bool, app: bool) -> None:
    found = tool({"ui": {"visibility": named}})
    assert (is_for(found, "model"), is_for(found, "app")) == (model, app)


def test_a_document_is_taken_by_its_kind() -> None:
    blob = types.BlobResourceContents(
        uri="ui://x", mime_type='text/html; profile="mcp-app"', blob=base64.b64encode(b"<p>y").decode()
    )
    assert document_of([text(mime="text/html"), blob]) == Document("<p>y")
    for contents in ([], [text(mime="text/html")], [text(mime=None)], [text("x" * (MOST_BYTES + 1))]):
        with pytest.raises(ValueError, match=r"what the server gives|its document"):
            document_of(contents)


def test_only_encrypted_names_on_the_internet_are_let_through() -> None:
    good = ["https://api.example.com", "wss://live.example.com:8443", "https://*.example.org"]
    bad: list[Any] = [
        "http://api.example.com",
        "https://127.0.0.1",
        "https://[::1]",
        "https://2130706433",
        "https://localhost",
        "https://this.localhost",
        "https://printer.local",
        "https://*",
        "https://*.com",
        "https:",
        "*",
        "data:",
        "'unsafe-eval'",
        "https://a.example; script-src *",
        "https://a.example\nx",
        "https://a.example/path",
        "https://user@a.example",
        7,
        None,
    ]
    document = reaching(
        connectDomains=[*bad, *good, "HTTPS://API.example.com/"], resourceDomains="https://a.example"
    )
    assert document.connect == tuple(good)
    assert document.resources == ()
    assert len(reaching(connectDomains=[f"https://a{n}.example" for n in range(50)]).connect) == MOST_DOMAINS


def test_a_policy_reaches_nothing_unless_it_is_let_through() -> None:
    document = reaching(
        connectDomains=["https://api.example.com"], resourceDomains=["https://cdn.example.com"]
    )
    assert "example.com" not in document.policy(False)
    assert "connect-src 'none'" in document.policy(False)
    assert "connect-src https://api.example.com;" in document.policy(True)
    assert "script-src 'unsafe-inline' https://cdn.example.com;" in document.policy(True)
    for policy in (document.policy(False), document.policy(True), Document("").policy(True)):
        assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert document.domains == ["https://api.example.com", "https://cdn.example.com"]
    assert document.digest != reaching(connectDomains=document.domains).digest
    assert Document("").digest == ""
