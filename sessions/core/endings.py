"""Ends of turns and calls that were no end in order, in words for the person who reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from django.utils.translation.trans_null import gettext_noop

from sessions.core.sentences import Sentence
from sessions.core.wire.messages import ABORTED, AUTH_FAILED, SERVER_ENDED, STOPPED_BY_USER

from .text import visible

Wire = Mapping[str, Any]
BY_USER = gettext_noop("Stopped by you")
BY_SERVER = gettext_noop("Interrupted: the server ended")

_ERROR_NAMES = {
    AUTH_FAILED: gettext_noop("The provider refused the key"),
    "MessageOutputLengthError": gettext_noop("The answer was longer than the model may write"),
    "ContentFilterError": gettext_noop("The answer was refused"),
    "ContextOverflowError": gettext_noop("The conversation is longer than the model's window"),
    "APIError": gettext_noop("The provider answered with an error"),
}
_CUT_OFF = {"": gettext_noop("Stopped"), STOPPED_BY_USER: BY_USER, SERVER_ENDED: BY_SERVER}


def cut_off_words(error: Wire) -> str:
    """What cut an answer off without being a failure of it; empty for any other error."""
    if error.get("name") != ABORTED:
        return ""
    said = _message(error)
    return _CUT_OFF.get(said) or Sentence("Interrupted: %(reason)s", reason=Sentence(said))


def error_words(error: Wire) -> dict[str, str]:
    """`{"title", "detail"}` of a wire error."""
    name = str(error.get("name", "Error"))
    return {"title": _ERROR_NAMES.get(name, gettext_noop("Something went wrong")), "detail": _message(error)}


def ending_of(error: Wire) -> Literal["stopped", "interrupted", "failed"]:
    """How the turn ended that has this error."""
    if error.get("name") != ABORTED:
        return "failed"
    return "stopped" if cut_off_words(error) in ("Stopped", BY_USER) else "interrupted"


def call_cut_off(metadata: Wire) -> str:
    """For a call whose turn ended before it did; empty for others and for an error of ours."""
    if not metadata.get("interrupted") or metadata.get("cause") == "error":
        return ""
    return BY_USER if metadata.get("cause") == "stop" else gettext_noop("Interrupted")


def call_error(state: Wire) -> str:
    """What a call failed with; empty for one that the person stopped, who is told of that as such."""
    stopped = call_cut_off(state.get("metadata") or {}) == BY_USER
    return "" if stopped else visible(str(state.get("error") or ""))


def _message(error: Wire) -> str:
    return visible(str((error.get("data") or {}).get("message") or ""))[:4000]
