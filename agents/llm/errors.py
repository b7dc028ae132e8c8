"""What went wrong at the provider, as ModelError, ContextOverflow or AuthFailed.

Providers agree on neither status nor wording, so the texts they use for the two cases that the loop treats
apart (too long, try again) are listed here. No message ever holds a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from agents.llm.types import AuthFailed, ContextOverflow, Model, ModelError

_OVERFLOW = re.compile(
    r"context_length_exceeded|context_window_exceeded|exceeds? the context window|maximum context length"
    r"|context length (of|is) only|maximum prompt length|prompt is too long|request_too_large"
    r"|input is too long|input length .*exceed|input token count .*exceeds the maximum"
    r"|exceeds? the available context size|exceed_context_size"
    r"|exceeds? (the )?(model'?s )?context (length|size)"
    r"|(greater|larger|longer) than the (model'?s )?(context (length|window)|maximum model length)"
    r"|context (length|window|size) exceed|tokens \+ `?max_new_tokens`? must be"
    r"|tokens in the prompt cannot exceed|token count of \d+ exceeds the limit"
    r"|context window exceeds limit|when context overflows|reduce the length of (the|your) (messages|prompt)"
    r"|exceeded model token limit|too large for model with \d+ maximum|prompt too long; exceeded"
    r"|exceeds the limit of \d+ tokens|requested token count exceeds|tokens? exceeds? .{0,40}context",
    re.IGNORECASE | re.DOTALL,
)
_TRY_AGAIN = re.compile(
    r"overloaded|too.many.requests|rate.?limit|resource.?exhausted|unavailable|try again later",
    re.IGNORECASE,
)
_NEVER_AGAIN = re.compile(
    r"insufficient_quota|billing_[a-z]|credit balance|payment required|quotaId\W+\w*PerDay", re.IGNORECASE
)
"""What waiting does not mend. Of billing only the codes: Gemini writes of it at every limit a minute, too."""
_RETRY_STATUS = frozenset({408, 409, 429})
_CODE = re.compile(r"<(script|style|head)\b", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|gsk|xai|key)[-_]|AIza)[A-Za-z0-9_*-]{12,}|(?<=Bearer )\S+")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def secrets_of(model: Model) -> list[str]:
    """What must not be shown: the key and the values of headers that carry one."""
    return [model.api_key, *(value for name, value in model.headers.items() if _SECRET_HEADER.search(name))]


def from_response(
    status: int, headers: Mapping[str, str], body: str, *, secrets: Iterable[str] = ()
) -> ModelError:
    """An answer with an error status. `body` is its text, JSON or not."""
    return _build(_message(_parse(body)) or _page_text(body), status, headers, body, secrets)


def from_body(body: str, *, secrets: Iterable[str] = ()) -> ModelError:
    """A body with status 200 that is no event stream, an error object as a rule."""
    parsed = _parse(body)
    return _build(_message(parsed) or _page_text(body), _status_in(parsed), {}, body, secrets)


def from_event(error: object, *, secrets: Iterable[str] = ()) -> ModelError:
    """The error object found inside a stream that had begun with status 200."""
    body = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    return _build(_message(error) or body, _status_in(error), {}, body, secrets)


def from_text(
    message: str, status: int | None, headers: Mapping[str, str], *, secrets: Iterable[str]
) -> ModelError:
    """An error that a library has read already."""
    return _build(message, status, headers, "", secrets)


def _build(
    message: str, status: int | None, headers: Mapping[str, str], body: str, secrets: Iterable[str]
) -> ModelError:
    secrets = [secret for secret in secrets if len(secret) > 3]
    shown, kept = _redact(message, secrets), _redact(body, secrets)
    lowered = {name.lower(): value for name, value in headers.items()}
    details: dict[str, Any] = {"status": status, "headers": lowered, "body": kept}
    if status in (401, 403):
        return AuthFailed(shown or f"The provider refused the key ({status}).", **details)
    if status != 429 and (status == 413 or _OVERFLOW.search(f"{message}\n{body}")):
        return ContextOverflow(shown or "The request is too long for the model.", **details)
    retryable = _is_retryable(status, lowered, f"{message}\n{body}")
    return ModelError(shown or _phrase(status), **details, retryable=retryable)


def _is_retryable(status: int | None, headers: Mapping[str, str], text: str) -> bool:
    if (told := headers.get("x-should-retry")) in ("true", "false"):
        return told == "true"
    if status is not None and status >= 500:  # a page of whoever is in between may say anything
        return True
    if _NEVER_AGAIN.search(text):
        return False
    if status in _RETRY_STATUS:
        return True
    return bool(_TRY_AGAIN.search(text))


def _parse(body: str) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _message(error: object) -> str:
    """The words for people inside an error object, wherever the provider put them."""
    match error:
        case str():
            return error.strip()
        case [first, *_]:
            return _message(first)
        case dict():
            found = (
                _message(error.get(key)) for key in ("error", "message", "detail", "errors", "msg", "Message")
            )
            return next(filter(None, found), "")
        case _:
            return ""


def _status_in(error: object) -> int | None:
    if isinstance(error, list) and error:
        return _status_in(error[0])
    if not isinstance(error, dict):
        return None
    if isinstance(error.get("error"), dict):
        return _status_in(error["error"])
    for key in ("code", "status", "type"):
        value = error.get(key)
        if isinstance(value, int) and 100 <= value < 600:
            return value
        if isinstance(value, str) and (value in _STATUS_OF_TYPE or value.isdecimal()):
            return _STATUS_OF_TYPE.get(value) or int(value)
    return None


def _page_text(body: str) -> str:
    """The text of an HTML or plain page, short; nothing for a JSON object without words."""
    if body.lstrip().startswith(("{", "[")):
        return ""
    return " ".join(re.sub(r"<[^<>]*>", " ", _without_code(body)).split())[:300]


def _without_code(body: str) -> str:
    """Without elements that are no text. What is never closed is looked for once."""
    pieces, end = [], 0
    unclosed: set[str] = set()
    for found in _CODE.finditer(body):
        name = found[1].lower()
        if found.start() < end or name in unclosed:
            continue
        if closed := re.compile(f"</{name}>", re.IGNORECASE).search(body, found.end()):
            pieces.append(body[end : found.start()])
            end = closed.end()
        else:
            unclosed.add(name)
    return " ".join([*pieces, body[end:]])


def _phrase(status: int | None) -> str:
    if status is None:
        return "The provider reported an error without saying which."
    known = {item.value: item.phrase for item in HTTPStatus}
    return f"The provider answered {status} {known.get(status, '')}".rstrip() + "."


def _redact(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)
