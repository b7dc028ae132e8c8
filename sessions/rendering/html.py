"""Templates to safe strings; the one place where text that no encoder takes is mended."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from sessions.core.text import wellformed


def html(template: str, **context: Any) -> SafeString:
    """A rendered template, fit for a response or a socket frame."""
    return mark_safe(wellformed(render_to_string(template, context)))  # noqa: S308 (templates escape)


def icon(name: str) -> SafeString:
    """The drawing of that name, hidden from screen readers. Raises KeyError for one that is not there."""
    return _icons()[name]


@cache
def _icons() -> dict[str, SafeString]:
    names = re.findall(r'<symbol id="icon-([a-z]+)"', html("icons.html"))
    drawing = '<svg class="icon" width="16" height="16" aria-hidden="true"><use href="#icon-{}"/></svg>'
    return {name: format_html(drawing, name) for name in names}
