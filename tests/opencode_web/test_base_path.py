"""What OPENCODE_WEB_BASE_PATH may say."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from opencode_web.base_path import VARIABLE, configured


@pytest.mark.parametrize("path", ["", "/agent", "/tools/agent", "/a.b/~c_d-e", "/...", "/.well-known"])
def test_a_path_is_taken_as_it_is(path: str) -> None:
    assert configured({VARIABLE: path}) == path


def test_without_one_the_server_has_the_whole_host() -> None:
    assert configured({}) == ""


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "agent",
        "/agent/",
        "//agent",
        "/a//b",
        "/..",
        "/a/../b",
        "/a/.",
        "/a b",
        "/%61",
        "/a?b",
        "/é",
        "/a\n",
        "/<p>",
    ],
)
def test_what_is_no_path_is_told(path: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="begins with a slash, ends without one"):
        configured({VARIABLE: path})
