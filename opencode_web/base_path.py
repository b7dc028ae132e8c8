"""Below which path of its host the server is, for a proxy that has something else at the host's root."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

from sessions.core import variables

VARIABLE = variables.BASE_PATH.name
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*")
"""Unreserved letters (RFC 3986 §2.3): the same in an address, a cookie, a route and a page."""


def configured(environ: Mapping[str, str]) -> str:
    """With a slash at its beginning and none at its end; empty where the server has the whole host. Raises
    ImproperlyConfigured for what is no such path."""
    path = variables.BASE_PATH.read(environ)
    if _PATH.fullmatch(path) is None:
        raise ImproperlyConfigured(
            f"{VARIABLE} is no path like /agent or /tools/agent: it begins with a slash, ends without one, "
            "and has letters, digits and - . _ ~ between them, but no part that is . or .."
        )
    return path
