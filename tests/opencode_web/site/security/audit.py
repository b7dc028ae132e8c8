"""What a browser would make of a page: every element that could run, load or lead somewhere it should not."""

from __future__ import annotations

import re
from html.parser import HTMLParser

HOSTILE = "'\"><pwned onpwned=1></title></textarea></script></style><script>pwned()</script>"
"""Breaks out of text, attributes and raw elements alike where it is not escaped."""

_SAFE_LINK = re.compile(r"(?:https?://|mailto:|[/?#](?!/)|$)")
_OWN = re.compile(r"/(?!/)")
_PIXELS = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,")
_FORBIDDEN = {"pwned", "style", "iframe", "object", "embed", "base", "applet", "frame"}
_REQUESTS = {"hx-get", "hx-post", "action", "formaction", "srcset", "poster"}


class _Audit(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.text: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self._script = tag == "script"
        if tag in _FORBIDDEN or (self._script and "src" not in found):
            self._fault(tag, found)
        for name, value in found.items():
            if name == "style" or name.startswith(("on", "hx-on")) or not self._may(tag, name, value):
                self._fault(tag, {name: value})

    def _may(self, tag: str, name: str, value: str) -> bool:
        if name == "src":
            return bool(_OWN.match(value) or (tag == "img" and _PIXELS.match(value)))
        if name == "href":
            return value == "data:," or bool((_OWN if tag == "link" else _SAFE_LINK).match(value))
        return name not in _REQUESTS or bool(_OWN.match(value))

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._script and data.strip():
            self._fault("script", {"text": data})

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def _fault(self, tag: str, attributes: dict[str, str]) -> None:
        self.faults.append(f"<{tag} {attributes}>")


def faults(html: str) -> list[str]:
    """What must not be in a page or fragment; empty for a good one."""
    return _audited(html).faults


def text_of(html: str) -> str:
    """The text a person sees (and some they do not)."""
    return "".join(_audited(html).text)


def _audited(html: str) -> _Audit:
    audit = _Audit()
    audit.feed(html)
    audit.close()
    return audit
