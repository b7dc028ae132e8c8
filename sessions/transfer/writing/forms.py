"""The forms of an export by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .document import Document, as_json
from .markdown import as_markdown
from .redact import redacted
from .transcript import as_html


@dataclass(frozen=True, slots=True)
class Form:
    ending: str
    media: str
    write: Callable[[Document, bool], str]
    """`write(document, redacted)` of what is redacted already, if it is to be."""


FORMS = {
    "json": Form("json", "application/json", lambda document, _: as_json(document)),
    "markdown": Form("md", "text/markdown; charset=utf-8", lambda document, _: as_markdown(document)),
    # As a file only: no browser is to show it as a page of this server.
    "html": Form("html", "application/octet-stream", lambda document, red: as_html(document, redacted=red)),
}


def written(document: Document, form: str, *, redact: bool = False) -> bytes:
    """The file; takes a while for a long conversation. Raises KeyError for an unknown form."""
    if redact:
        document = redacted(document)
    return FORMS[form].write(document, redact).encode("utf-8", "replace")
