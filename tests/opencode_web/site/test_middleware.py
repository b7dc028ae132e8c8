"""What is compressed on its way to the browser, and what is not."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import RequestFactory

from opencode_web.site.middleware import compressed

PAGE = "<p>Some words.</p>" * 100


async def answered(response: HttpResponseBase, accept: str = "br, gzip") -> HttpResponseBase:
    async def view(request: HttpRequest) -> HttpResponseBase:
        return response

    return await compressed(view)(RequestFactory().get("/", headers={"Accept-Encoding": accept}))


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
