"""Policies, cookies and documents of the server that is previewed."""

from __future__ import annotations

import pytest

from opencode_web.site.preview.rewriting import SCRIPT, cookies_of_others, own_cookie, policy, with_script


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("default-src 'self'", "default-src 'self'; script-src 'self' 'nonce-n'"),
        ("script-src 'none'", "script-src 'nonce-n'"),
        ("script-src 'self' 'unsafe-inline'", "script-src 'self' 'unsafe-inline' 'self'"),
        (
            "script-src 'unsafe-inline' 'strict-dynamic'",
            "script-src 'unsafe-inline' 'strict-dynamic' 'nonce-n'",
        ),
        ("img-src *; frame-ancestors 'none'", "img-src *"),
        ("frame-ancestors 'none'", ""),
        (
            "upgrade-insecure-requests; script-src a, script-src b",
            "script-src a 'nonce-n', script-src b 'nonce-n'",
        ),
    ],
)
def test_a_policy_lets_our_script_run_and_ours_frame_it(given: str, expected: str) -> None:
    assert policy(given, "n") == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b"a=b; Path=/", b"a=b; Path=/"),
        (b"a=b; domain = localhost; Secure", b"a=b; Secure"),
        (b" OpenCode_Web_4096=x", b""),
    ],
)
def test_a_cookie_is_of_the_host_alone_and_not_ours(given: bytes, expected: bytes) -> None:
    assert own_cookie(given) == expected


def test_several_cookie_headers_are_one() -> None:
    assert cookies_of_others([b"a=1; opencode_web_1=x", b"b=2"]) == "a=1; b=2"
    assert cookies_of_others([b"opencode_web_1=x"]) == ""


@pytest.mark.parametrize(
    ("given", "before"),
    [
        (b"<!DOCTYPE html>\n<p>", b"<!DOCTYPE html>"),
        (b"\xef\xbb\xbf <!-- a --><!doctype html><p>", b"\xef\xbb\xbf <!-- a --><!doctype html>"),
        (b"<p>", b""),
        (b"", b""),
    ],
)
def test_the_script_comes_after_the_type_of_the_document(given: bytes, before: bytes) -> None:
    script = f'<script nonce="n" src="{SCRIPT}"></script>'.encode()
    assert with_script(given, "n") == before + script + given.removeprefix(before)


def test_what_is_in_utf_16_stays_as_it_is() -> None:
    document = "<!doctype html>".encode("utf-16")
    assert with_script(document, "n") == document
