"""The languages of the pages: which there are, and in which of them a browser is answered
(docs/decisions/0060-languages.md)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import parse_cookie
from django.utils.translation import to_locale, trans_real
from django.utils.translation.trans_real import get_supported_language_variant, parse_accept_lang_header


class _Active:
    """Where Django keeps the language in force. Its own such place is empty in the threads that work is
    handed to (`asyncio.to_thread`; asgiref.local says why); there pages are rendered, too."""

    _translation: ContextVar[object] = ContextVar("translation", default=None)

    @property
    def value(self) -> object:
        if (translation := self._translation.get()) is None:
            raise AttributeError("value")
        return translation

    @value.setter
    def value(self, translation: object) -> None:
        self._translation.set(translation)

    @value.deleter
    def value(self) -> None:
        self._translation.set(None)


trans_real._active = _Active()  # type: ignore[attr-defined]  # it has no other name

ENGLISH = "en"
"""What the sources are written in."""
NAMES: Mapping[str, str] = {
    ENGLISH: "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt-br": "Português (Brasil)",
    "zh-hans": "简体中文",
    "ja": "日本語",
    "ko": "한국어",
}
"""Each as those call it who speak it."""
CATALOGUES: Path = Path(__file__).parent / "locale"


def available() -> list[tuple[str, str]]:
    """Code and name of English, and of each language whose catalogue has been compiled."""
    return [(code, name) for code, name in NAMES.items() if code == ENGLISH or _catalogue(code).is_file()]


def _catalogue(code: str) -> Path:
    return CATALOGUES / to_locale(code) / "LC_MESSAGES" / "django.mo"


@lru_cache(maxsize=256)
def wanted(chosen: str, accepted: str) -> str:
    """The code of what was chosen on the settings page, else of the first language there is that
    `Accept-Language` names, else English."""
    for code in (chosen, *(code for code, _ in parse_accept_lang_header(accepted))):
        with suppress(LookupError):
            return get_supported_language_variant(code)
    return ENGLISH


def of_scope(scope: Any) -> str:
    """The same for a socket, which is opened with the headers of its page."""
    headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
    chosen = parse_cookie(headers.get(b"cookie", "")).get(settings.LANGUAGE_COOKIE_NAME, "")
    return wanted(chosen, headers.get(b"accept-language", ""))
