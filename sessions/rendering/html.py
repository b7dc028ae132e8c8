"""Templates to safe strings; the one place where text that no encoder takes is mended."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from .text import wellformed


def html(template: str, **context: Any) -> SafeString:
    """A rendered template, fit for a response or a socket frame."""
    return mark_safe(wellformed(render_to_string(template, context)))  # noqa: S308 (templates escape)
