"""What is compressed on its way to the browser, and what is not."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import RequestFactory

from opencode_web.site.middleware import compressed

PAGE = "<p>Some words.</p>" * 100


FAR = "192.0.2.7"
ANSWER = json.dumps([{"text": "Some words."}] * 200)


async def answered(
    response: HttpResponseBase, accept: str = "br, gzip", client: str = "127.0.0.1"
) -> HttpResponseBase:
    async def view(request: HttpRequest) -> HttpResponseBase:
        return response

    request = RequestFactory().get("/", headers={"Accept-Encoding": accept}, REMOTE_ADDR=client)
    return await compressed(view)(request)


async def test_a_large_answer_is_compressed_for_who_is_far() -> None:
    response = await answered(HttpResponse(ANSWER, content_type="application/json"), client=FAR)
    assert isinstance(response, HttpResponse)
    assert (response["Content-Encoding"], response["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(response.content).decode() == ANSWER
    assert len(response.content) < len(ANSWER) / 10


@pytest.mark.parametrize(
    ("client", "text", "accept"),
    [
        ("127.0.0.1", ANSWER, "gzip"),
        ("::1", ANSWER, "gzip"),
        ("", ANSWER, "gzip"),
        (FAR, "[]", "gzip"),
        (FAR, ANSWER, ""),
    ],
)
async def test_other_answers_are_not(client: str, text: str, accept: str) -> None:
    response = await answered(HttpResponse(text, content_type="application/json"), accept, client)
    assert isinstance(response, HttpResponse)
    assert response.content.decode() == text
    assert not response.has_header("Content-Encoding")


async def test_a_page_is_compressed_to_another_length_each_time() -> None:
    lengths = set()
    for _ in range(50):
        response = await answered(HttpResponse(PAGE))
        assert isinstance(response, HttpResponse)
        assert (response["Content-Encoding"], response["Vary"]) == ("gzip", "Accept-Encoding")
        assert gzip.decompress(response.content).decode() == PAGE
        lengths.add(len(response.content))
    assert len(lengths) > 1


@pytest.mark.parametrize(
    ("response", "accept"),
    [
        (HttpResponse(PAGE), "identity"),
        (HttpResponse(PAGE), "br, gzip;q=0"),
        (HttpResponse("short"), "gzip"),
        (HttpResponse(PAGE, content_type="application/octet-stream"), "gzip"),
        (HttpResponse(PAGE, headers={"Content-Encoding": "br"}), "gzip"),
    ],
)
async def test_what_would_not_gain_stays_as_it_is(response: HttpResponse, accept: str) -> None:
    before = response.content
    after = await answered(response, accept)
    assert isinstance(after, HttpResponse)
    assert after.content == before


async def test_a_stream_is_never_held_back() -> None:
    async def events() -> AsyncIterator[str]:
        yield PAGE

    response = await answered(StreamingHttpResponse(events(), content_type="text/event-stream"))
    assert not response.has_header("Content-Encoding")
