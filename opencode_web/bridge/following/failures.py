"""A turn that failed: what kind of failure it is."""

from __future__ import annotations

import re
from typing import Any

from opencode_web.bridge.formatting.messages import error_text, turn
from opencode_web.remote.errors import Category, RemoteError
from opencode_web.remote.errors import category_of as category_of_status

_MISSING = re.compile(r"\bnot found\b|\bthere is no (agent|model|provider)\b", re.IGNORECASE)


def answered(message: dict[str, Any], text: str = "") -> None:
    """Raise RemoteError when the assistant's message ended with an error; `text` says more of the turn."""
    error = message["info"].get("error")
    if not error:
        return
    data = error.get("data") or {}
    status = int(data.get("statusCode") or 0)
    if error["name"] == "ProviderAuthError":
        category: Category = "auth"
    elif error["name"] == "MessageAbortedError":
        category = "conflict"
    elif status >= 400:
        category = category_of_status(status)
    else:
        category = category_of(error_text(error))
    raise RemoteError(category, text or turn([message]), status=status)


def category_of(reason: str) -> Category:
    """The category of an error that is told in words only."""
    return "not_found" if _MISSING.search(reason) else "server"
