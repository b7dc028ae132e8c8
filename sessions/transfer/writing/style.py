"""The style of a transcript, inside of its page, and the policy under which the page may do nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings

_SHEETS = ("tokens.css", "markdown.css", "code.css", "transcript.css")


@cache
def style() -> str:
    """All sheets as one text; none of them names a resource."""
    folder = Path(settings.STATICFILES_DIRS[0]) / "css"
    return "\n".join((folder / name).read_text("utf-8").strip() for name in _SHEETS)


@cache
def policy() -> str:
    """Content-Security-Policy: this style (CSP 3, hash source), pictures inside of the page, nothing more."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
