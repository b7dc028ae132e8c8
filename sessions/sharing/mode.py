"""What the configuration says about sharing, asked of whoever the settings name (it is above this room)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal, cast

from django.conf import settings
from django.utils.module_loading import import_string

Mode = Literal["manual", "auto", "disabled"]


def mode(directory: str) -> Mode:
    """Of the folder that a session works in; reads files when they have changed."""
    path = getattr(settings, "SHARE_MODE", "")
    return _asked(path)(directory) if path else "manual"


@cache
def _asked(path: str) -> Callable[[str], Mode]:
    return cast(Callable[[str], Mode], import_string(path))
