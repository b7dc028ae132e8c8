"""litellm's exceptions as ModelError, ContextOverflow or AuthFailed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from agents.llm import errors
from agents.llm.types import ContextOverflow, Model, ModelError

_PREFIX = re.compile(r"^(?:(?:litellm\.)?[A-Za-z]*(?:Error|Exception|Timeout)(?:: | - |$))+")
_BODY = re.compile(r"""^b(?P<quote>['"]).*(?P=quote)""", re.DOTALL)


def from_exception(error: Exception, model: Model) -> ModelError:
    """What any exception out of litellm means: it wraps whatever its many providers raise."""
    inner = getattr(error, "original_exception", None) or error
    kind, secrets = type(inner).__name__, errors.secrets_of(model)
    if kind == "Timeout":
        return ModelError(f"{model.provider_id} did not answer within {model.timeout:g} s.", retryable=True)
    text = _PREFIX.sub("", str(getattr(inner, "message", inner)).strip())
    status, headers = getattr(inner, "status_code", None), _headers(inner)
    body = _bytes_literal(text)
    if body:
        found = errors.from_response(status or 500, headers, body, secrets=secrets)
    else:
        found = errors.from_text(text.partition("\n")[0] or kind, status, headers, secrets=secrets)
    if kind == "ContextWindowExceededError" and not isinstance(found, ContextOverflow):
        return ContextOverflow(found.message, status=status, headers=headers, body=found.body)
    if kind == "APIConnectionError":
        # The figure litellm gives here, 500, is its own.
        found.status = None
    return found


def _headers(error: Exception) -> Mapping[str, str]:
    response: Any = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}


def _bytes_literal(text: str) -> str:
    """The provider's body, which litellm often shows as Python writes bytes."""
    found = _BODY.match(text)
    if found is None:
        return ""
    try:
        literal = ast.literal_eval(found[0])
    except (ValueError, SyntaxError):
        return ""
    return literal.decode("utf-8", "replace") if isinstance(literal, bytes) else ""
