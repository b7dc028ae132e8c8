"""That an answer takes no thread: that was half of what it cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import iscoroutinefunction
from asgiref.testing import ApplicationCommunicator
from django.core.signals import request_finished
from django.urls import URLPattern, URLResolver, get_resolver

from opencode_web import asgi
from sessions.web.lazy import load_all


def views(within: URLResolver) -> Iterator[URLPattern]:
    for pattern in within.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern)
        elif pattern.name != "api-root":  # ninja's own, which only says that there is none
            yield pattern


@pytest.mark.parametrize("urls", [None, "opencode_web.site.api_urls", "opencode_web.site.api_v2_urls"])
def test_every_view_is_asynchronous(urls: str | None) -> None:
    found = list(views(get_resolver(urls)))
    assert len(found) > 40
    assert [each for each in found if not iscoroutinefunction(each.callback)] == []


def test_what_is_loaded_later_is_there_and_asynchronous() -> None:
    """And has nothing on it that a middleware would look for."""
    assert get_resolver().url_patterns
    found = load_all()
    assert len(found) > 100
    assert [view for view in found if not iscoroutinefunction(view)] == []
    marked = {key for view in found for key in vars(view)} - {"__wrapped__", "_is_coroutine_mark"}
    assert marked == set()


@pytest.mark.django_db  # of a connection of this thread, which other tests may have opened
async def test_a_response_is_closed_where_it_was_made() -> None:
    closed: list[threading.Thread] = []

    def note(**_: Any) -> None:
        closed.append(threading.current_thread())

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/global/health",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "principal": None,
    }
    request_finished.connect(note)
    try:
        asked: Any = ApplicationCommunicator(asgi.pages, scope)  # type: ignore[no-untyped-call]
        await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
        assert (await asked.receive_output())["status"] == 200
        await asked.receive_output()
        await asked.send_input({"type": "http.disconnect"})
        await asked.wait()
    finally:
        request_finished.disconnect(note)
    assert closed == [threading.current_thread()]
